//! Tasks are found where they are linked; what is wrong with them is said at the start.
//!
//! The programs stand in `src/bin/discovery`, the library of tasks in `fixtures/jobs`.

use std::time::Duration;

use tasklock_test_support::process::Worker;
use tasklock_test_support::temp::TempDir;
use tasklock_test_support::wait::eventually;
use tasklock_tests::program::command;

const BOUND: Duration = Duration::from_secs(30);
const UNLINKED: &str = env!("CARGO_BIN_EXE_discovery-unlinked");
const LINKED: &str = env!("CARGO_BIN_EXE_discovery-linked");
const DUPLICATE: &str = env!("CARGO_BIN_EXE_discovery-duplicate");
const REQUIRED: &str = env!("CARGO_BIN_EXE_discovery-required");
const LIBRARY: &str = "tests/fixtures/jobs/src/lib.rs";

struct Program {
    worker: Worker,
    _folder: TempDir,
}

/// Starts a program on a store of its own.
fn start(path: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Program {
    let folder = TempDir::new();
    let mut command = command(path, folder.path());
    command
        .env("TASKLOCK_DATABASE_URL", "memory:")
        .envs(variables.iter().copied())
        .args(arguments);
    Program {
        worker: Worker::spawn(&mut command),
        _folder: folder,
    }
}

impl Program {
    /// What it says when it refuses to start.
    fn refusal(self) -> String {
        let status = self.worker.wait_exit(BOUND);
        assert_eq!(status.code(), Some(1), "{}", self.worker.report());
        // What a process has written can arrive after its end.
        eventually(BOUND, || self.worker.stderr().ends_with('\n'));
        self.worker.stderr()
    }

    /// The words of the startup table's rows, and a clean end after it was shown.
    fn table(self) -> Vec<[String; 2]> {
        eventually(BOUND, || self.rows().is_some());
        self.worker.interrupt();
        let status = self.worker.wait_exit(BOUND);
        assert_eq!(status.code(), Some(0), "{}", self.worker.report());
        self.rows().unwrap_or_default()
    }

    /// Task and place of each row: the indented lines below the heading, up to the next event.
    fn rows(&self) -> Option<Vec<[String; 2]>> {
        let log = self.worker.stderr();
        let (_, rows) = log.split_once("defined at\n")?;
        // The last line may still be on its way.
        let whole = rows.rsplit_once('\n')?.0;
        let rows = whole.lines().take_while(|line| line.starts_with("  "));
        Some(
            rows.map(|row| {
                let word = |text: &str| row.split_whitespace().find(|word| word.contains(text));
                let task = row.split_whitespace().next().unwrap_or_default();
                [task, word(".rs:").unwrap_or_default()].map(str::to_owned)
            })
            .collect(),
        )
    }
}

fn assert_says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "{part} is missing in: {message}");
    }
}

#[test]
fn without_a_task_a_program_does_not_start_and_says_why() {
    // The library is among its dependencies: the linker drops it.
    let refusal = start(UNLINKED, &[], &[]).refusal();
    assert_says(
        &refusal,
        &[
            "no task is linked",
            "#[locked_task]",
            "use my_jobs as _;",
            "tasklock_runtime::link!(my_jobs);",
        ],
    );
}

#[test]
fn a_library_that_is_named_is_found_and_its_tasks_are_listed_by_name() {
    let table = start(LINKED, &[], &[]).table();
    assert_eq!(
        table,
        [
            ["accounts.clean".to_owned(), place_of("clean_accounts")],
            ["send_reports".to_owned(), place_of("send_reports")],
        ]
    );
}

#[test]
fn a_name_in_two_places_is_refused_with_both() {
    let refusal = start(DUPLICATE, &[], &[]).refusal();
    let ours = "tests/src/bin/discovery/duplicate.rs:8";
    let theirs = place_of("clean_accounts");
    assert_says(&refusal, &["\"accounts.clean\"", "twice", ours, &theirs]);
}

#[test]
fn only_selects_among_the_linked_tasks() {
    let table = start(LINKED, &[], &[("TASKLOCK_ONLY", "accounts.clean")]).table();
    assert_eq!(
        table,
        [["accounts.clean".to_owned(), place_of("clean_accounts")]]
    );
}

#[test]
fn a_selection_that_names_an_unknown_task_is_refused() {
    let only = ("TASKLOCK_ONLY", "accounts.clean,accounts.cleam");
    let refusal = start(LINKED, &[], &[only]).refusal();
    let linked = "linked: accounts.clean, send_reports";
    assert_says(&refusal, &["TASKLOCK_ONLY", "\"accounts.cleam\"", linked]);
}

#[test]
fn a_required_task_is_linked_by_being_required() {
    let program = start(REQUIRED, &[], &[]);
    let status = program.worker.wait_exit(BOUND);
    assert_eq!(status.code(), Some(0), "{}", program.worker.report());
}

#[test]
fn a_required_task_that_is_missing_is_refused() {
    let refusal = start(REQUIRED, &["forgotten"], &[]).refusal();
    let linked = "linked: accounts.clean, send_reports";
    assert_says(&refusal, &["\"forgotten\"", "required", linked]);
}

/// Where the library annotates this function, as the runtime tells it.
fn place_of(function: &str) -> String {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let text = std::fs::read_to_string(format!("{root}/{LIBRARY}")).expect("the library is there");
    let lines: Vec<&str> = text.lines().collect();
    let function = lines
        .iter()
        .position(|line| line.contains(&format!("fn {function}(")))
        .expect("the library has this function");
    let attribute = lines[..function]
        .iter()
        .rposition(|line| line.starts_with("#[locked_task"))
        .expect("it is annotated");
    format!("{LIBRARY}:{}", attribute + 1)
}
