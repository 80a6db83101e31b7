//! Between the store's types and arrays, rows and columns.

use sqlx::Postgres;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::QueryAs;

use super::column;
use super::micros::Micros;
use crate::lease::{LeaseKey, OwnerToken};
use crate::store::sql::{Columns, Taken, due_at, due_in, follows, job_state, progress};
use crate::store::{Claim, Finish, Job, JobRow, NewJob, span, timestamp};
use crate::task::Next;

/// Leases as one array a column.
pub(super) struct Keys<'a> {
    pub(super) jobs: Vec<i64>,
    pub(super) fences: Vec<i64>,
    pub(super) owners: Vec<&'a str>,
}

impl<'a> Keys<'a> {
    pub(super) fn of(keys: impl Iterator<Item = &'a LeaseKey> + Clone) -> Self {
        Self {
            jobs: keys.clone().map(|key| key.job).collect(),
            fences: keys.clone().map(|key| key.fence).collect(),
            owners: keys.map(|key| key.owner.as_str()).collect(),
        }
    }
}

/// Ends as one array a column.
pub(super) struct Ends<'a> {
    pub(super) keys: Keys<'a>,
    pub(super) columns: Vec<Columns>,
    pub(super) outcomes: Vec<&'static str>,
    /// Without NUL characters, which Postgres' text cannot hold.
    pub(super) errors: Vec<Option<String>>,
}

impl<'a> Ends<'a> {
    pub(super) fn of(ends: impl Iterator<Item = &'a Finish> + Clone) -> Self {
        let plain = |error: &String| error.replace('\0', "\u{fffd}");
        Self {
            keys: Keys::of(ends.clone().map(|end| &end.key)),
            columns: ends.clone().map(Columns::of).collect(),
            outcomes: ends.clone().map(|end| end.outcome).collect(),
            errors: ends.map(|end| end.error.as_ref().map(plain)).collect(),
        }
    }

    pub(super) fn column<T>(&self, of: impl Fn(&Columns) -> T) -> Vec<T> {
        self.columns.iter().map(of).collect()
    }
}

/// New jobs as one array a column.
pub(super) struct NewJobs<'a> {
    pub(super) tasks: Vec<&'a str>,
    pub(super) payloads: Vec<Option<&'a str>>,
    pub(super) priorities: Vec<i16>,
    pub(super) keys: Vec<Option<&'a str>>,
    pub(super) due_at: Vec<Option<i64>>,
    pub(super) due_in: Vec<Option<i64>>,
    pub(super) resources: Vec<Option<&'a str>>,
}

impl<'a> NewJobs<'a> {
    pub(super) fn of(jobs: &[&'a NewJob]) -> Self {
        Self {
            tasks: jobs.iter().map(|job| &*job.task).collect(),
            payloads: jobs.iter().map(|job| job.payload.as_deref()).collect(),
            priorities: jobs.iter().map(|job| job.priority).collect(),
            keys: jobs.iter().map(|job| job.unique_key.as_deref()).collect(),
            due_at: jobs.iter().map(|job| due_at(job.due)).collect(),
            due_in: jobs.iter().map(|job| due_in(job.due)).collect(),
            resources: jobs.iter().map(|job| job.resource.as_deref()).collect(),
        }
    }

    /// As the first parameters of a statement.
    pub(super) fn bound<'q, T>(
        self,
        statement: QueryAs<'q, Postgres, T, PgArguments>,
    ) -> QueryAs<'q, Postgres, T, PgArguments>
    where
        'a: 'q,
    {
        statement
            .bind(self.tasks)
            .bind(self.payloads)
            .bind(self.priorities)
            .bind(self.keys)
            .bind(self.due_at)
            .bind(self.due_in)
            .bind(self.resources)
    }
}

pub(super) fn taken(row: &PgRow, token: &OwnerToken, takeover: bool) -> Result<Taken, sqlx::Error> {
    Ok(Taken {
        claim: claim(row, token, takeover)?,
        resource: column(row, "resource")?,
        rank: due(row)? - i64::from(column::<i16>(row, "priority")?) * 1_000_000,
    })
}

fn claim(row: &PgRow, token: &OwnerToken, takeover: bool) -> Result<Claim, sqlx::Error> {
    let standing = column(row, "standing")?;
    Ok(Claim {
        key: LeaseKey {
            job: column(row, "id")?,
            fence: column(row, "fence")?,
            owner: token.clone(),
        },
        task: column(row, "task")?,
        due_at: due(row)?,
        attempt: unsigned(column(row, "attempt")?),
        crashes: unsigned(column(row, "crashes")?),
        refusals: unsigned(column(row, "refusals")?),
        takeover,
        // No other job has them.
        slot_at: if standing {
            instant(row, "slot_at")?
        } else {
            None
        },
        schedule: if standing {
            column(row, "schedule")?
        } else {
            None
        },
        begun_at: if standing {
            instant(row, "begun_at")?
        } else {
            None
        },
        follows: if standing { following(row)? } else { None },
        standing,
        to_cancel: column(row, "to_cancel")?,
        payload: column::<Option<&str>>(row, "payload")?.map(Into::into),
        resource: None,
    })
}

fn following(row: &PgRow) -> Result<Option<Next>, sqlx::Error> {
    Ok(follows(instant(row, "next_at")?, column(row, "next_in")?))
}

fn due(row: &PgRow) -> Result<i64, sqlx::Error> {
    Ok(instant(row, "due_at")?.unwrap_or_default())
}

fn instant(row: &PgRow, name: &str) -> Result<Option<i64>, sqlx::Error> {
    let instant: Option<Micros> = column(row, name)?;
    Ok(instant.map(|instant| instant.0))
}

pub(super) fn key(row: &PgRow) -> Result<LeaseKey, sqlx::Error> {
    Ok(LeaseKey {
        job: column(row, "id")?,
        fence: column(row, "fence")?,
        owner: OwnerToken::from_stored(column(row, "owner")?),
    })
}

pub(super) fn job_row(row: &PgRow) -> Result<JobRow, sqlx::Error> {
    Ok(JobRow {
        job: column(row, "id")?,
        task: column(row, "task")?,
        running: column(row, "running")?,
        owner: column::<Option<&str>>(row, "owner")?.map(OwnerToken::from_stored),
        fence: column(row, "fence")?,
        left: column::<Option<i64>>(row, "left_us")?.map(span),
        due_at: column(row, "due_at")?,
        slot_at: column(row, "slot_at")?,
        attempt: unsigned(column(row, "attempt")?),
        crashes: unsigned(column(row, "crashes")?),
        to_cancel: column(row, "to_cancel")?,
        last_outcome: column(row, "last_outcome")?,
        last_error: column(row, "last_error")?,
    })
}

pub(super) fn job(row: &PgRow) -> Result<Job, sqlx::Error> {
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
        attempt: unsigned(column(row, "attempt")?),
        crashes: unsigned(column(row, "crashes")?),
        refusals: unsigned(column(row, "refusals")?),
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

fn slots(count: Option<i64>) -> u64 {
    count.map_or(0, |count| u64::try_from(count).unwrap_or(0))
}

fn unsigned(count: i32) -> u32 {
    u32::try_from(count).unwrap_or(0)
}
