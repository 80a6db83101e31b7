//! Between the store's types and JSON, rows and columns.

use sqlx::mysql::MySqlRow;

use super::column;
use crate::lease::{LeaseKey, OwnerToken};
use crate::store::sql::{Taken, follows, job_state, progress};
use crate::store::{Claim, Job, JobRow, span, timestamp};

/// A row that was locked to be claimed.
pub(super) struct Locked {
    pub(super) id: i64,
    pub(super) task: String,
    pub(super) fence: i64,
    /// That of its side row.
    pub(super) beat: Option<i64>,
    /// Who held it before.
    pub(super) owner: Option<OwnerToken>,
    /// When its slot was begun, once it is claimed.
    pub(super) begun: Option<i64>,
    pub(super) now: i64,
    taken: Taken,
}

impl Locked {
    pub(super) fn of(
        row: &MySqlRow,
        token: &OwnerToken,
        takeover: bool,
    ) -> Result<Self, sqlx::Error> {
        let standing: bool = column(row, "standing")?;
        let now: i64 = column(row, "now")?;
        let fence: i64 = column(row, "fence")?;
        let due_at = column::<Option<i64>>(row, "due_at")?.unwrap_or_default();
        let begun: Option<i64> = column(row, "begun_at")?;
        let begun = standing.then(|| begun.unwrap_or(now));
        let crashes = count(column(row, "crashes")?);
        let claim = Claim {
            key: LeaseKey {
                job: column(row, "id")?,
                fence: fence.saturating_add(1),
                owner: token.clone(),
            },
            task: column(row, "task")?,
            due_at,
            slot_at: column::<Option<i64>>(row, "slot_at")?.filter(|_| standing),
            schedule: column::<Option<String>>(row, "schedule")?.filter(|_| standing),
            begun_at: begun,
            follows: follows(column(row, "next_at")?, column(row, "next_in")?).filter(|_| standing),
            attempt: more(count(column(row, "attempt")?), true),
            crashes: more(crashes, takeover),
            refusals: count(column(row, "refusals")?),
            takeover,
            standing,
            to_cancel: column(row, "to_cancel")?,
            payload: column::<Option<&str>>(row, "payload")?.map(Into::into),
            resource: None,
        };
        let owner = if takeover {
            column::<Option<&str>>(row, "owner")?.map(OwnerToken::from_stored)
        } else {
            None
        };
        Ok(Self {
            id: claim.key.job,
            task: claim.task.clone(),
            fence,
            beat: column(row, "beat")?,
            owner,
            begun,
            now,
            taken: Taken {
                resource: column(row, "resource")?,
                rank: due_at - i64::from(column::<i16>(row, "priority")?) * 1_000_000,
                claim,
            },
        })
    }

    /// Whether there is a side row that is none of the lease to come.
    pub(super) fn has_stray(&self) -> bool {
        self.beat.is_some_and(|beat| beat > self.fence)
    }

    pub(super) fn taken(self) -> Taken {
        self.taken
    }
}

/// As the statements count: to the last number and no further.
fn more(count: u32, more: bool) -> u32 {
    let last = i32::MAX.unsigned_abs();
    if more { count.min(last - 1) + 1 } else { count }
}

fn count(column: i32) -> u32 {
    u32::try_from(column).unwrap_or(0)
}

fn slots(count: Option<i64>) -> u64 {
    count.map_or(0, |count| u64::try_from(count).unwrap_or(0))
}

pub(super) fn job_row(row: &MySqlRow) -> Result<JobRow, sqlx::Error> {
    Ok(JobRow {
        job: column(row, "id")?,
        task: column(row, "task")?,
        running: column(row, "running")?,
        owner: column::<Option<&str>>(row, "owner")?.map(OwnerToken::from_stored),
        fence: column(row, "fence")?,
        left: column::<Option<i64>>(row, "left_us")?.map(span),
        due_at: column(row, "due_at")?,
        slot_at: column(row, "slot_at")?,
        attempt: count(column(row, "attempt")?),
        crashes: count(column(row, "crashes")?),
        to_cancel: column(row, "to_cancel")?,
        last_outcome: column(row, "last_outcome")?,
        last_error: column(row, "last_error")?,
    })
}

pub(super) fn job(row: &MySqlRow) -> Result<Job, sqlx::Error> {
    let at = |name: &str| Ok::<_, sqlx::Error>(column::<Option<i64>>(row, name)?.map(timestamp));
    Ok(Job {
        id: column(row, "id")?,
        task: column(row, "task")?,
        state: job_state(column(row, "state")?)?,
        payload: column(row, "payload")?,
        priority: column(row, "priority")?,
        unique_key: column(row, "unique_key")?,
        resource: column(row, "resource")?,
        is_standing: column(row, "standing")?,
        due_at: at("due_at")?,
        slot_at: at("slot_at")?,
        schedule: column(row, "schedule")?,
        missed: slots(column(row, "missed")?),
        skipped: slots(column(row, "skipped")?),
        attempt: count(column(row, "attempt")?),
        crashes: count(column(row, "crashes")?),
        refusals: count(column(row, "refusals")?),
        fence: column(row, "fence")?,
        worker: column(row, "worker")?,
        lock_until: at("lock_until")?,
        progress: progress(
            column(row, "progress_done")?,
            column(row, "progress_total")?,
        ),
        claimed_at: at("claimed_at")?,
        finished_at: at("finished_at")?,
        created_at: at("created_at")?,
        cancelled_at: at("cancelled_at")?,
        last_outcome: column(row, "last_outcome")?,
        last_error: column(row, "last_error")?,
    })
}
