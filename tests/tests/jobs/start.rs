//! What keeps a worker from starting: all of it is told at once, with its place.

use std::fs;
use std::path::Path;

use tasklock_test_support::wait::eventually;
use tasklock_tests::stage::Place;

use crate::support::{BOUND, worker};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// What a worker says that does not start.
fn refusal(tasks: &str, more: &[(&str, &str)]) -> String {
    let place = Place::sqlite();
    let worker = worker(&place, tasks, more);
    let status = worker.wait_exit(BOUND);
    assert_eq!(status.code(), Some(1), "{}", worker.report());
    eventually(BOUND, || worker.stderr().contains("Error: "));
    worker.stderr()
}

#[test]
fn every_missing_state_is_told_with_the_task_that_needs_it() {
    let tasks = "settle,note,snoozes,fails_on_cue";
    let refusal = refusal(tasks, &[("WORKER_BARE", "1")]);
    assert_eq!(refusal.matches("Error: ").count(), 1, "{refusal}");
    for (task, file, state) in [
        ("settle", "guarded", "Application"),
        ("snoozes", "ends", "Answers"),
        ("fails_on_cue", "holding", "Application"),
    ] {
        let place = place_of(file, task);
        let line = refusal.lines().find(|line| line.contains(&place));
        let line = line.unwrap_or_else(|| panic!("no {place} in {refusal}"));
        for part in [
            &format!("{task:?}"),
            &format!("::{state}`"),
            &".state(".to_owned(),
        ] {
            assert!(line.contains(part), "no {part} in {line}");
        }
    }
    assert!(!refusal.contains("\"note\""), "{refusal}");
}

#[test]
fn a_queue_that_no_task_has_is_told_with_those_that_are() {
    let refusal = refusal("note,mailed", &[("TASKLOCK_QUEUES", "mail,mial")]);
    for part in ["TASKLOCK_QUEUES", "\"mial\"", "queues: default, mail"] {
        assert!(refusal.contains(part), "no {part} in {refusal}");
    }
}

/// Where a file of the worker annotates this function, as the runtime tells it.
fn place_of(file: &str, function: &str) -> String {
    let file = format!("tests/src/bin/jobs_worker/{file}.rs");
    let text = fs::read_to_string(Path::new(ROOT).join(&file)).expect("the file is there");
    let lines: Vec<&str> = text.lines().collect();
    let function = lines
        .iter()
        .position(|line| line.contains(&format!("fn {function}(")))
        .expect("the file has this function");
    let attribute = lines[..function]
        .iter()
        .rposition(|line| line.starts_with("#[locked_task"))
        .expect("it is annotated");
    format!("{file}:{}", attribute + 1)
}
