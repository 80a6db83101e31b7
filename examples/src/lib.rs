//! What the examples share.

use std::io::IsTerminal;

use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

pub mod eurofxref;
pub mod jobs;

/// The database that the variables name which the runtime reads too, else `default`.
pub fn database_url_or(default: &str) -> String {
    ["TASKLOCK_DATABASE_URL", "DATABASE_URL"]
        .into_iter()
        .find_map(|variable| std::env::var(variable).ok().filter(|url| !url.is_empty()))
        .unwrap_or_else(|| default.to_owned())
}

/// Shows the runtime's log on standard error. `tasklock_runtime::run()` does so by itself; the
/// builder leaves it to the application.
pub fn show_logs() {
    let levels = Targets::new()
        .with_default(LevelFilter::INFO)
        .with_target("sqlx", LevelFilter::WARN);
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    tracing_subscriber::registry()
        .with(lines.with_filter(levels))
        .init();
}
