//! What the examples share.

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
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .init();
}
