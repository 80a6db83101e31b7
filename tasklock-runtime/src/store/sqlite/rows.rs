//! Between the store's types and JSON, rows and columns.

use std::time::Duration;

use serde_json::{Map, Value, json};
use sqlx::sqlite::SqliteRow;

use super::{batch, column};
use crate::lease::{LeaseKey, OwnerToken};
use crate::store::sql::{next_at, next_in};
use crate::store::{Claim, Finish, JobRow, Renewal, span};
use crate::task::micros;

pub(super) fn ttls(tasks: &[(String, Duration)]) -> String {
    let ttls: Map<String, Value> = tasks
        .iter()
        .map(|(task, ttl)| (task.clone(), json!(micros(*ttl))))
        .collect();
    Value::Object(ttls).to_string()
}

pub(super) fn keys(keys: &[LeaseKey]) -> String {
    batch(keys, |key| json!([key.job, key.fence, key.owner.as_str()]))
}

pub(super) fn renewals(renewals: &[Renewal]) -> String {
    batch(renewals, |renewal| {
        let key = &renewal.key;
        json!([key.job, key.fence, key.owner.as_str(), micros(renewal.ttl)])
    })
}

pub(super) fn ends(ends: &[Finish]) -> String {
    batch(ends, |end| {
        let key = &end.key;
        json!([
            key.job,
            key.fence,
            key.owner.as_str(),
            next_at(end.next),
            next_in(end.next),
            end.outcome,
            end.error
        ])
    })
}

pub(super) fn claim(
    row: &SqliteRow,
    token: &OwnerToken,
    takeover: bool,
) -> Result<Claim, sqlx::Error> {
    Ok(Claim {
        key: LeaseKey {
            job: column(row, "id")?,
            fence: column(row, "fence")?,
            owner: token.clone(),
        },
        task: column(row, "task")?,
        due_at: column::<Option<i64>>(row, "due_at")?.unwrap_or_default(),
        attempt: column(row, "attempt")?,
        takeover,
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
        attempt: column(row, "attempt")?,
        crashes: column(row, "crashes")?,
        last_outcome: text(row, "last_outcome")?,
        last_error: text(row, "last_error")?,
    })
}

/// A text, or what a text may be read of: SQLite stores blobs in any column, and takes any bytes for text.
fn text(row: &SqliteRow, name: &str) -> Result<Option<String>, sqlx::Error> {
    let bytes: Option<&[u8]> = column(row, name)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
}
