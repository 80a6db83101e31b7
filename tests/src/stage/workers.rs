//! Worker processes, and what they say.

use std::fs;
use std::process::Command;
use std::time::Duration;

use tasklock_test_support::process::{Event, Worker};
use tasklock_test_support::wait::{eventually, eventually_some};

use super::BOUND;

/// Starts a worker program with these tasks on this database.
#[track_caller]
pub fn worker(program: &str, url: &str, tasks: &str, more: &[(&str, &str)]) -> Worker {
    let mut command = Command::new(program);
    Worker::spawn(started(&mut command, url, tasks).envs(more.iter().copied()))
}

/// The variables that every worker here gets; those of the test run itself are kept from it.
pub fn started<'a>(command: &'a mut Command, url: &str, tasks: &str) -> &'a mut Command {
    for (name, _) in std::env::vars() {
        if name.starts_with("TASKLOCK_") || name == "DATABASE_URL" || name == "RUST_LOG" {
            command.env_remove(name);
        }
    }
    command
        .env("TASKLOCK_DATABASE_URL", url)
        .env("TASKLOCK_ONLY", tasks)
        .env("NO_COLOR", "1")
}

/// Waits until the worker looks for work.
#[track_caller]
pub fn ready(worker: &Worker) {
    eventually(BOUND, || {
        assert!(worker.ended().is_none(), "{}", worker.report());
        worker.stderr().contains(" started ")
    });
}

/// Waits for the next start that no earlier wait has returned.
#[track_caller]
pub fn start_of(worker: &Worker) -> Event {
    worker.wait_for(BOUND, |event| event.is("start"))
}

/// The first start with a greater fence, in whichever of these processes.
#[track_caller]
pub fn next_start(workers: &[&Worker], after: &Event) -> Event {
    let fence = number(after, "fence");
    eventually_some(BOUND, || {
        let events = workers.iter().flat_map(|worker| worker.events());
        events
            .filter(|event| event.is("start") && event.get("task") == after.get("task"))
            .filter(|event| number(event, "fence") > fence)
            .min_by_key(|event| number(event, "fence"))
    })
}

/// A number that an event has.
///
/// # Panics
///
/// If it has none of this name.
#[track_caller]
pub fn number(event: &Event, name: &str) -> i64 {
    event
        .get(name)
        .and_then(serde_json::Value::as_i64)
        .unwrap_or_else(|| panic!("no number {name} in {}", event.line))
}

/// A text; `None` if it is null.
pub fn field<'a>(event: &'a Event, name: &str) -> Option<&'a str> {
    event.str(name)
}

/// The processor time that a process has used.
///
/// # Panics
///
/// If it has ended.
#[track_caller]
pub fn cpu(worker: &Worker) -> Duration {
    /// Of all Linux systems that Rust runs on.
    const TICKS_PER_SECOND: u64 = 100;
    let stat = fs::read_to_string(format!("/proc/{}/stat", worker.pid()));
    let stat = stat.expect("the worker is there");
    let (_, fields) = stat.rsplit_once(')').expect("the name is in parentheses");
    let ticks: u64 = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(|field| field.parse::<u64>().expect("a number of ticks"))
        .sum();
    Duration::from_millis(ticks * 1_000 / TICKS_PER_SECOND)
}
