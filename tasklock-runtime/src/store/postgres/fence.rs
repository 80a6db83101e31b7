//! Registering a fence in somebody's Postgres.

use sqlx::{Postgres, Transaction};

use super::diagnose;
use super::statements::{ABORT, REGISTER_FENCE, REGISTERED_FENCE};
use crate::lease::{FenceError, Fenced};
use crate::store::schema::Dialect;
use crate::store::sql::unregistered;

impl Fenced for Transaction<'_, Postgres> {
    async fn register(&mut self, name: &str, fence: i64) -> Result<(), FenceError> {
        let registered = register(self, name, fence).await;
        if let Err(error) = &registered {
            // It fails, which is its purpose: also where the server has seen no error so far. If it was not
            // even sent, the transaction is gone as well.
            let _ = sqlx::query(ABORT)
                .bind(format!("tasklock: {error}"))
                .execute(&mut **self)
                .await;
        }
        registered
    }
}

async fn register(
    tx: &mut Transaction<'_, Postgres>,
    name: &str,
    fence: i64,
) -> Result<(), FenceError> {
    let failed = |error| unregistered(diagnose, Dialect::Postgres, error);
    let passed: Option<i64> = sqlx::query_scalar(REGISTER_FENCE)
        .bind(name)
        .bind(fence)
        .fetch_optional(&mut **tx)
        .await
        .map_err(failed)?;
    if passed == Some(fence) {
        return Ok(());
    }
    // The row is locked by the statement before: it is there, and stays as it is.
    let registered: i64 = sqlx::query_scalar(REGISTERED_FENCE)
        .bind(name)
        .fetch_one(&mut **tx)
        .await
        .map_err(failed)?;
    Err(FenceError::Stale {
        name: name.to_owned(),
        fence,
        registered,
    })
}
