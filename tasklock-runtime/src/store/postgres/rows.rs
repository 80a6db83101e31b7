//! Between the store's types and arrays, rows and columns.

use sqlx::postgres::PgRow;

use super::column;
use crate::lease::{LeaseKey, OwnerToken};
use crate::store::sql::{next_at, next_in};
use crate::store::{Claim, Finish, JobRow, span};

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
    pub(super) next_at: Vec<Option<i64>>,
    pub(super) next_in: Vec<Option<i64>>,
    pub(super) outcomes: Vec<&'static str>,
    /// Without NUL characters, which Postgres' text cannot hold.
    pub(super) errors: Vec<Option<String>>,
}

impl<'a> Ends<'a> {
    pub(super) fn of(ends: &'a [Finish]) -> Self {
        Self {
            keys: Keys::of(ends.iter().map(|end| &end.key)),
            next_at: ends.iter().map(|end| next_at(end.next)).collect(),
            next_in: ends.iter().map(|end| next_in(end.next)).collect(),
            outcomes: ends.iter().map(|end| end.outcome).collect(),
            errors: ends
                .iter()
                .map(|end| {
                    end.error
                        .as_ref()
                        .map(|error| error.replace('\0', "\u{fffd}"))
                })
                .collect(),
        }
    }
}

pub(super) fn claim(row: &PgRow, token: &OwnerToken, takeover: bool) -> Result<Claim, sqlx::Error> {
    Ok(Claim {
        key: LeaseKey {
            job: column(row, "id")?,
            fence: column(row, "fence")?,
            owner: token.clone(),
        },
        task: column(row, "task")?,
        due_at: column::<Option<i64>>(row, "due_at")?.unwrap_or_default(),
        attempt: unsigned(column(row, "attempt")?),
        takeover,
    })
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
        attempt: unsigned(column(row, "attempt")?),
        crashes: unsigned(column(row, "crashes")?),
        last_outcome: column(row, "last_outcome")?,
        last_error: column(row, "last_error")?,
    })
}

fn unsigned(count: i32) -> u32 {
    u32::try_from(count).unwrap_or(0)
}
