//! Registering a fence in somebody's SQLite file.
//!
//! The statement writes, whatever it finds: a deferred transaction takes the file's one write lock at
//! its newest state by it, or is refused.

use sqlx::{Sqlite, Transaction};

use super::diagnose;
use super::statements::REGISTER_FENCE;
use crate::lease::{FenceError, Fenced};
use crate::store::schema::Dialect;
use crate::store::sql::unregistered;

impl Fenced for Transaction<'_, Sqlite> {
    async fn register(&mut self, name: &str, fence: i64) -> Result<(), FenceError> {
        // To the last row: a statement that is left half-way is not ended.
        let rows: Vec<(i64, bool)> = sqlx::query_as(REGISTER_FENCE)
            .bind(name)
            .bind(fence)
            .fetch_all(&mut **self)
            .await
            .map_err(|error| unregistered(diagnose, Dialect::Sqlite, error))?;
        match rows.first() {
            Some(&(registered, false)) if registered == fence => Ok(()),
            Some(&(registered, false)) => Err(FenceError::Db(
                format!("the fence table answered {registered}: is it another one?").into(),
            )),
            Some(&(registered, true)) => Err(FenceError::Stale {
                name: name.to_owned(),
                fence,
                registered,
            }),
            None => Err(FenceError::Db("the fence table answered no row".into())),
        }
    }
}
