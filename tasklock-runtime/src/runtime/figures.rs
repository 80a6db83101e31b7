//! What a worker is told: its figures and its name, checked.

use std::time::Duration;

use super::builder::RuntimeBuilder;
use super::settings::{Environment, duration, parsed, text};
use crate::client::PAYLOAD_LIMIT;
use crate::error::Error;
use crate::run::Settings;

const CONCURRENCY: usize = 100;
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Kubernetes kills after 30 s; writing the last ends and closing may take 10 s after it.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(15);
/// More permits than any semaphore of tokio's may have would panic.
const MOST_CONCURRENCY: usize = 1 << 20;

impl RuntimeBuilder {
    pub(super) fn settings(&self, env: Environment<'_>) -> Result<Settings, Error> {
        let concurrency = parsed(
            self.concurrency,
            "TASKLOCK_CONCURRENCY",
            env,
            "a number from 1",
        )?
        .unwrap_or(CONCURRENCY);
        if !(1..=MOST_CONCURRENCY).contains(&concurrency) {
            return Err(Error::option(
                format!("concurrency = {concurrency}"),
                format!("write a number from 1 to {MOST_CONCURRENCY}"),
            ));
        }
        let poll_interval =
            duration(self.poll_interval, "TASKLOCK_POLL_INTERVAL", env)?.unwrap_or(POLL_INTERVAL);
        if poll_interval < Duration::from_millis(10) {
            return Err(Error::option(
                format!("poll_interval = {poll_interval:?}"),
                "would keep the database busy with asking: write 10ms or more",
            ));
        }
        let name = text(self.worker_name.clone(), "TASKLOCK_WORKER_NAME", env)
            .unwrap_or_else(default_worker_name);
        tasklock_grammar::check_name(&name)
            .map_err(|error| Error::option(format!("worker_name = {name:?}"), error.to_string()))?;
        Ok(Settings {
            version: None,
            name,
            concurrency,
            poll_interval,
            shutdown_grace: duration(self.shutdown_grace, "TASKLOCK_SHUTDOWN_GRACE", env)?
                .unwrap_or(SHUTDOWN_GRACE),
            payload_limit: parsed(
                self.payload_limit,
                "TASKLOCK_PAYLOAD_LIMIT",
                env,
                "a number of bytes",
            )?
            .unwrap_or(PAYLOAD_LIMIT),
            handle_signals: parsed(
                self.handle_signals,
                "TASKLOCK_HANDLE_SIGNALS",
                env,
                "true or false",
            )?
            .unwrap_or(true),
        })
    }
}

fn default_worker_name() -> String {
    let system = rustix::system::uname();
    let host = system.nodename().to_string_lossy();
    format!("{host}-{}", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Runtime;

    fn problem(builder: RuntimeBuilder) -> String {
        match builder.settings(&|_| None) {
            Ok(settings) => panic!("accepted: {settings:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn options_out_of_range_are_refused() {
        assert!(problem(Runtime::builder().concurrency(0)).starts_with("concurrency = 0"));
        assert!(problem(Runtime::builder().concurrency(usize::MAX)).contains("from 1 to"));
        assert!(problem(Runtime::builder().poll_interval(Duration::ZERO)).contains("10ms or more"));
    }

    #[test]
    fn a_worker_name_that_a_store_could_not_hold_is_refused() {
        assert!(problem(Runtime::builder().worker_name("a\0b")).starts_with("worker_name"));
    }
}
