//! Announcements: SQLite sends none, but `PRAGMA data_version` changes when another connection, of
//! this process or another, has committed. It is looked at every 50 ms: a read of one page, without a lock. Who enqueues
//! by this store says so, and then it is looked at at once.

use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection, SqliteConnection};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::store::Wake;

const LOOK: Duration = Duration::from_millis(50);
const RETRY: Duration = Duration::from_secs(1);

/// Watches for ever, and reopens the file.
pub(super) async fn watch(
    options: SqliteConnectOptions,
    written: Arc<Notify>,
    wake: Box<dyn Fn(Wake) + Send + Sync>,
) {
    let options = options.create_if_missing(false);
    loop {
        // It ends with an error only.
        if let Err(error) = look(&options, &written, &*wake).await {
            tracing::debug!("the file cannot be watched for changes, polling instead: {error}");
        }
        wake(Wake::Deaf);
        sleep(RETRY).await;
    }
}

async fn look(
    options: &SqliteConnectOptions,
    written: &Notify,
    wake: &(dyn Fn(Wake) + Send + Sync),
) -> Result<(), sqlx::Error> {
    let mut connection = SqliteConnection::connect_with(options).await?;
    let mut seen = version(&mut connection).await?;
    wake(Wake::Live);
    loop {
        // It hears what is told from here on, also while the version is read.
        let told = written.notified();
        let found = version(&mut connection).await?;
        if found != seen {
            seen = found;
            wake(Wake::Work);
        }
        let _ = timeout(LOOK, told).await;
    }
}

async fn version(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar("PRAGMA data_version")
        .fetch_one(connection)
        .await
}
