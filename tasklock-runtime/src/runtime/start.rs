//! `run()`: everything by default.

use std::io::IsTerminal;

use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::Runtime;
use crate::error::Error;

/// Finds the tasks that are linked into this program, and runs them until SIGTERM or Ctrl-C.
///
/// Options come from the environment: `TASKLOCK_DATABASE_URL`, then `DATABASE_URL`, name the database;
/// [`RuntimeBuilder`](crate::RuntimeBuilder) lists the others. Where no `tracing` subscriber is
/// installed it installs a plain one that writes to stderr, at level `info` or as `RUST_LOG` says
/// (`target=level`, separated by commas).
///
/// # Errors
///
/// What keeps the runtime from starting: no task is linked, tasks or options that cannot be used, a
/// database that cannot be reached or written. See [`Runtime::run`] for what happens later.
pub async fn run() -> Result<(), Error> {
    if !tracing::dispatcher::has_been_set() {
        install_log()?;
    }
    Runtime::builder().build().await?.run().await
}

fn install_log() -> Result<(), Error> {
    let levels = std::env::var("RUST_LOG").unwrap_or_else(|_| "info".into());
    let filter: Targets = levels.parse().map_err(|error| {
        Error::option(
            format!("RUST_LOG = {levels:?}"),
            format!("{error}: write a level, or target=level separated by commas"),
        )
    })?;
    // An error means that the application has installed its own: that one stays.
    let _ = tracing_subscriber::registry()
        .with(
            tracing_subscriber::fmt::layer()
                .with_writer(std::io::stderr)
                .with_ansi(std::io::stderr().is_terminal()),
        )
        .with(filter)
        .try_init();
    Ok(())
}
