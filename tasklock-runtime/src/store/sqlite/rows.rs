//! Between the store's types and JSON, rows and columns.

use sqlx::sqlite::SqliteRow;

use super::column;
use crate::lease::{LeaseKey, OwnerToken};
use crate::store::sql::json::batch;
use crate::store::sql::{Taken, due_at, due_in, follows, job_state, progress};
use crate::store::{Claim, Job, JobRow, NewJob, span, timestamp};

pub(super) fn new_jobs(jobs: &[&NewJob]) -> String {
    batch(jobs, |job| {
        (
            &job.task,
            &job.payload,
            job.priority,
            &job.unique_key,
            due_at(job.due),
            due_in(job.due),
            &job.resource,
        )
    })
}

/// Jobs without a key that differ in nothing but their payloads.
pub(super) fn are_alike(jobs: &[&NewJob]) -> bool {
    let of = |job: &NewJob| (due_at(job.due), due_in(job.due), job.priority);
    jobs.windows(2).all(|pair| {
        let [one, two] = [pair[0], pair[1]];
        one.task == two.task && of(one) == of(two) && one.resource == two.resource
    })
}

pub(super) fn payloads(jobs: &[&NewJob]) -> String {
    batch(jobs, |job| &job.payload)
}

pub(super) fn taken(
    row: &SqliteRow,
    token: &OwnerToken,
    takeover: bool,
) -> Result<Taken, sqlx::Error> {
    Ok(Taken {
        claim: claim(row, token, takeover)?,
        resource: text(row, "resource")?,
        rank: column::<Option<i64>>(row, "rank")?.unwrap_or_default(),
    })
}

fn claim(row: &SqliteRow, token: &OwnerToken, takeover: bool) -> Result<Claim, sqlx::Error> {
    Ok(Claim {
        key: LeaseKey {
            job: column(row, "id")?,
            fence: column(row, "fence")?,
            owner: token.clone(),
        },
        task: column(row, "task")?,
        due_at: column::<Option<i64>>(row, "due_at")?.unwrap_or_default(),
        slot_at: column(row, "slot_at")?,
        schedule: text(row, "schedule")?,
        begun_at: column(row, "begun_at")?,
        follows: follows(column(row, "next_at")?, column(row, "next_in")?),
        attempt: column(row, "attempt")?,
        crashes: column(row, "crashes")?,
        refusals: column(row, "refusals")?,
        takeover,
        standing: column(row, "standing")?,
        to_cancel: column(row, "to_cancel")?,
        payload: text(row, "payload")?.map(Into::into),
        resource: None,
    })
}

pub(super) fn job_row(row: &SqliteRow) -> Result<JobRow, sqlx::Error> {
    Ok(JobRow {
        job: column(row, "id")?,
        task: text(row, "task")?.unwrap_or_default(),
        running: column(row, "running")?,
        owner: text(row, "owner")?.map(|owner| OwnerToken::from_stored(&owner)),
        fence: column(row, "fence")?,
        left: column::<Option<i64>>(row, "left_us")?.map(span),
        due_at: column(row, "due_at")?,
        slot_at: column(row, "slot_at")?,
        attempt: column(row, "attempt")?,
        crashes: column(row, "crashes")?,
        to_cancel: column(row, "to_cancel")?,
        last_outcome: text(row, "last_outcome")?,
        last_error: text(row, "last_error")?,
    })
}

pub(super) fn job(row: &SqliteRow) -> Result<Job, sqlx::Error> {
    let at = |name: &str| Ok::<_, sqlx::Error>(column::<Option<i64>>(row, name)?.map(timestamp));
    Ok(Job {
        id: column(row, "id")?,
        task: text(row, "task")?.unwrap_or_default(),
        state: job_state(column(row, "state")?)?,
        payload: text(row, "payload")?,
        priority: column(row, "priority")?,
        unique_key: text(row, "unique_key")?,
        resource: text(row, "resource")?,
        is_standing: column(row, "standing")?,
        due_at: at("due_at")?,
        slot_at: at("slot_at")?,
        schedule: text(row, "schedule")?,
        missed: column(row, "missed")?,
        skipped: column(row, "skipped")?,
        attempt: column(row, "attempt")?,
        crashes: column(row, "crashes")?,
        refusals: column(row, "refusals")?,
        fence: column(row, "fence")?,
        worker: text(row, "worker")?,
        lock_until: at("lock_until")?,
        progress: progress(column(row, "done")?, column(row, "total")?),
        claimed_at: at("claimed_at")?,
        finished_at: at("finished_at")?,
        created_at: at("created_at")?,
        cancelled_at: at("cancelled_at")?,
        last_outcome: text(row, "last_outcome")?,
        last_error: text(row, "last_error")?,
    })
}

/// A text, or what a text may be read of: SQLite stores blobs in any column, and takes any bytes for text.
pub(super) fn text(row: &SqliteRow, name: &str) -> Result<Option<String>, sqlx::Error> {
    let bytes: Option<&[u8]> = column(row, name)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
}
