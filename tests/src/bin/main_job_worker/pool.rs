//! An application that hands its pool to the builder, and then uses up every connection of it.

use std::str::FromStr;
use std::sync::OnceLock;
use std::time::Duration;

use sqlx::postgres::PgPoolOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use tasklock_runtime::{LeaseContext, Pool, Runtime, TaskResult, locked_task};

use crate::{nothing, say, url};

const CONNECTIONS: u32 = 3;
static POOL: OnceLock<Pool> = OnceLock::new();

pub(crate) fn is_wanted() -> bool {
    std::env::var("WORKER_POOL").is_ok()
}

pub(crate) async fn run() -> Result<(), tasklock_runtime::Error> {
    let pool = open().expect("the test's URL can be read");
    let pool = POOL.get_or_init(|| pool).clone();
    Runtime::builder().pool(pool).build().await?.run().await
}

fn open() -> Result<Pool, sqlx::Error> {
    let url = url();
    if url.starts_with("sqlite:") {
        let options = SqliteConnectOptions::from_str(&url)?.create_if_missing(true);
        let pool = SqlitePoolOptions::new().max_connections(CONNECTIONS);
        Ok(Pool::from(pool.connect_lazy_with(options)))
    } else {
        let pool = PgPoolOptions::new().max_connections(CONNECTIONS);
        Ok(Pool::from(pool.connect_lazy(&url)?))
    }
}

/// Holds every connection of the pool for three times its ttl.
#[locked_task(ttl = "1s", after = "1h")]
async fn hog(lease: LeaseContext) -> TaskResult {
    say("start", &lease, nothing());
    match POOL.get() {
        Some(Pool::Postgres(pool)) => hold_all(pool).await?,
        Some(Pool::Sqlite(pool)) => hold_all(pool).await?,
        _ => return Err("there is no pool to hold".into()),
    }
    say("end", &lease, nothing());
    Ok(())
}

async fn hold_all<DB: sqlx::Database>(pool: &sqlx::Pool<DB>) -> TaskResult {
    let mut held = Vec::new();
    for _ in 0..CONNECTIONS {
        held.push(pool.acquire().await?);
    }
    if pool.try_acquire().is_some() {
        return Err("a connection is left".into());
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    Ok(())
}
