//! Transactions of one database, from `pg_stat_database`.

use std::panic::Location;
use std::time::Duration;

use sqlx::PgConnection;

use crate::postgres::Database;
use crate::wait;

/// Sessions that are open in the database, autovacuum's aside.
///
/// # Panics
///
/// If the server does not answer.
pub async fn sessions(database: &Database) -> i64 {
    count_sessions(&mut database.connect_beside().await, database.name()).await
}

/// Transactions committed and rolled back so far, as far as the sessions have handed over their
/// counts: see the [module](super).
///
/// # Panics
///
/// If the server does not answer.
pub async fn transactions(database: &Database) -> i64 {
    count_transactions(&mut database.connect_beside().await, database.name()).await
}

/// All transactions committed and rolled back so far; waits until no session is open any more, and
/// so every count has been handed over.
///
/// # Panics
///
/// If sessions are still open after `bound`, or the server does not answer.
#[track_caller]
pub fn settled_transactions(database: &Database, bound: Duration) -> impl Future<Output = i64> {
    let caller = Location::caller();
    async move {
        let mut beside = database.connect_beside().await;
        let name = database.name();
        let closed = wait::try_eventually_async(bound, async || {
            (count_sessions(&mut beside, name).await == 0).then_some(())
        });
        if closed.await.is_none() {
            panic!(
                "the transactions of {name} wanted at {caller} are not settled: sessions are still \
                 open in it after {bound:?}; close the pools and end the workers first"
            );
        }
        count_transactions(&mut beside, name).await
    }
}

async fn count_sessions(connection: &mut PgConnection, name: &str) -> i64 {
    let statement = "select count(*) from pg_stat_activity
                      where datname = $1 and backend_type <> 'autovacuum worker'";
    let counting = sqlx::query_scalar(statement)
        .bind(name)
        .fetch_one(connection);
    counting.await.expect("the server tells its sessions")
}

async fn count_transactions(connection: &mut PgConnection, name: &str) -> i64 {
    let statement = "select xact_commit + xact_rollback from pg_stat_database where datname = $1";
    let counting = sqlx::query_scalar(statement)
        .bind(name)
        .fetch_one(connection);
    counting.await.expect("the server tells its transactions")
}
