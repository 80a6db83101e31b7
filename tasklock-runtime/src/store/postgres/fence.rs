//! Registering a fence in somebody's Postgres.

use sqlx::{Postgres, Transaction};

use super::diagnose;
use super::statements::{ABORT, REGISTER_FENCE, REGISTERED_FENCE};
use crate::lease::{FenceError, Fenced};
use crate::store::schema::Dialect;
use crate::store::sql::unregistered;

impl Fenced for Transaction<'_, Postgres> {
    async fn register(&mut self, name: &str, fence: i64) -> Result<(), FenceError> {
        let failed = |error| unregistered(diagnose, Dialect::Postgres, error);
        let passed: Option<i64> = sqlx::query_scalar(REGISTER_FENCE)
            .bind(name)
            .bind(fence)
            .fetch_optional(&mut **self)
            .await
            .map_err(failed)?;
        if passed.is_some() {
            return Ok(());
        }
        // The row is locked by the statement before: it is there, and stays as it is.
        let registered: i64 = sqlx::query_scalar(REGISTERED_FENCE)
            .bind(name)
            .fetch_one(&mut **self)
            .await
            .map_err(failed)?;
        let stale = FenceError::Stale {
            name: name.to_owned(),
            fence,
            registered,
        };
        // It fails, which is its purpose; if it was not even sent, the transaction is gone as well.
        let _ = sqlx::query(ABORT)
            .bind(format!("tasklock: {stale}"))
            .execute(&mut **self)
            .await;
        Err(stale)
    }
}
