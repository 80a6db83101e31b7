//! A scheduled import: a file of daily exchange rates goes into a table, whole or not at all.
//!
//! ```text
//! cargo run -p tasklock-examples --example rates                    # every five seconds
//! cargo run -p tasklock-examples --example rates -- --once          # now, then exit with 0 or 1
//! cargo run -p tasklock-examples --example rates -- --once my.csv   # another file
//! ```
//!
//! Start it on as many machines as you like: one of them imports at a time. The table `rates` lives in
//! the database of the leases: `TASKLOCK_DATABASE_URL` (SQLite or Postgres), by default
//! `sqlite://rates.db`. The file has the European Central Bank's format; the one that is used by default,
//! `examples/data/eurofxref.csv`, has invented numbers.
//!
//! What to try: run it twice (the second run changes no row); spoil a number in a copy of the file
//! (the error names file, line and column, and no row of the file is written).

use std::path::PathBuf;
use std::process::ExitCode;

use sqlx::AnyPool;
use tasklock_examples::{database_url_or, eurofxref, jobs, show_logs};
use tasklock_runtime::{BoxError, LeaseContext, Runtime, State, TaskResult, locked_task};

const TABLE: &str = "
CREATE TABLE IF NOT EXISTS rates (
    day      varchar(10) NOT NULL,
    currency varchar(3) NOT NULL,
    rate     double precision NOT NULL,
    PRIMARY KEY (day, currency)
)";

/// A rate that is there already is not written again, so the rows affected are the rows changed.
const UPSERT: &str = "
INSERT INTO rates (day, currency, rate) VALUES ($1, $2, $3)
ON CONFLICT (day, currency) DO UPDATE SET rate = excluded.rate WHERE rates.rate <> excluded.rate";

/// What the handler needs.
struct App {
    pool: AnyPool,
    file: PathBuf,
}

/// Imports the file.
#[locked_task(ttl = "30s", every = "5s")]
async fn import_rates(lease: LeaseContext, app: State<App>) -> TaskResult {
    // Read to its end before anything is written: a mistake in the last line costs nothing.
    let rates = eurofxref::read(&app.file)?;

    // Nobody else creates it at this moment: that is what the lease is for.
    sqlx::query(TABLE).execute(&app.pool).await?;
    let mut transaction = app.pool.begin().await?;
    let mut changed = 0;
    for rate in &rates {
        let upsert = sqlx::query(UPSERT)
            .bind(rate.day.to_string())
            .bind(&rate.currency)
            .bind(rate.rate);
        changed += upsert.execute(&mut *transaction).await?.rows_affected();
    }
    // A lost lease ends the import here, and the transaction is rolled back. That makes a stale commit
    // unlikely, not impossible: a process that is paused right after this line commits when it goes
    // on. `lease.commit(transaction)` closes the gap for a transaction of `sqlx::Postgres` or
    // `sqlx::Sqlite`; this program speaks to both through `sqlx::Any`, which it cannot guard. It helps
    // that the same file may be imported any number of times.
    lease.check()?;
    transaction.commit().await?;

    println!(
        "{}: {} rates, {changed} rows changed",
        app.file.display(),
        rates.len()
    );
    Ok(())
}

#[tokio::main]
async fn main() -> Result<ExitCode, BoxError> {
    let (once, file) = arguments()?;
    show_logs();
    sqlx::any::install_default_drivers();

    let url = database_url_or("sqlite://rates.db");
    let pool = AnyPool::connect(&format!("{url}{}", create(&url))).await?;
    let runtime = Runtime::builder()
        .database_url(&*url)
        .state(App { pool, file })
        .build()
        .await?;
    if !once {
        runtime.run().await?;
        return Ok(ExitCode::SUCCESS);
    }

    let (client, shutdown) = (runtime.client(), runtime.shutdown_handle());
    let running = tokio::spawn(runtime.run());
    let imported = jobs::trigger_and_wait(&client, import_rates::NAME).await?;
    shutdown.shutdown();
    running.await??;
    Ok(match imported {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    })
}

/// A SQLite file that is not there is made, by whoever opens it first.
fn create(url: &str) -> &'static str {
    if url.starts_with("sqlite:") && !url.contains('?') {
        "?mode=rwc"
    } else {
        ""
    }
}

/// `[--once] [path]`
fn arguments() -> Result<(bool, PathBuf), BoxError> {
    let mut once = false;
    let mut file = None;
    for argument in std::env::args().skip(1) {
        match &*argument {
            "--once" => once = true,
            _ if argument.starts_with('-') || file.is_some() => {
                return Err(format!("{argument}? Usage: rates [--once] [path]").into());
            }
            _ => file = Some(argument.into()),
        }
    }
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/data/eurofxref.csv");
    Ok((once, file.unwrap_or_else(|| shipped.into())))
}
