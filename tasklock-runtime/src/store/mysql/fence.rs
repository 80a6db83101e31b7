//! Registering a fence in somebody's MariaDB or MySQL.
//!
//! A refused fence must not be committed, and InnoDB fails no transaction for an error of one statement. So the transaction is
//! rolled back, there and then, and goes on as one that writes nothing.

use sqlx::{Executor, MySql, Transaction};

use super::diagnose;
use super::statements::{REGISTER_FENCE, REGISTERED_FENCE};
use crate::lease::{FenceError, Fenced};
use crate::store::schema::Dialect;
use crate::store::sql::unregistered;

impl Fenced for Transaction<'_, MySql> {
    async fn register(&mut self, name: &str, fence: i64) -> Result<(), FenceError> {
        let registered = register(self, name, fence).await;
        if registered.is_err() {
            // If it was not even sent, the transaction is gone as well.
            // Read-only from here on: without one, what the caller still writes would be committed at once.
            let _ = (**self)
                .execute(sqlx::raw_sql("ROLLBACK; START TRANSACTION READ ONLY"))
                .await;
        }
        registered
    }
}

async fn register(
    tx: &mut Transaction<'_, MySql>,
    name: &str,
    fence: i64,
) -> Result<(), FenceError> {
    let failed = |error| unregistered(diagnose, Dialect::MariaDb, error);
    sqlx::query(REGISTER_FENCE)
        .bind(name)
        .bind(fence)
        .execute(&mut **tx)
        .await
        .map_err(failed)?;
    // The row is locked by the statement before: it is there, and stays as it is.
    let registered: i64 = sqlx::query_scalar(REGISTERED_FENCE)
        .bind(name)
        .fetch_one(&mut **tx)
        .await
        .map_err(failed)?;
    if registered == fence {
        return Ok(());
    }
    if registered < fence {
        return Err(FenceError::Db(
            format!("the fence table answered {registered}: is it another one?").into(),
        ));
    }
    Err(FenceError::Stale {
        name: name.to_owned(),
        fence,
        registered,
    })
}
