//! Where the cases run, who runs in them, and what the database says of it.

pub(crate) use tasklock_tests::stage::{BOUND, Note, Notes, Place, number, ready, start_of};

use std::time::Duration;

use serde_json::{Value, json};
use tasklock_runtime::Client;
use tasklock_test_support::process::{Event, Worker};
use tasklock_test_support::wait::eventually_async;
use tasklock_tests::stage;

/// One line on standard error, whatever the harness captures.
pub(crate) fn print(place: &Place, line: &str) {
    stage::print("resources", &format!("{}: {line}", place.kind()));
}

/// Starts a worker with these tasks on this database.
#[track_caller]
pub(crate) fn worker(place: &Place, tasks: &str, more: &[(&str, &str)]) -> Worker {
    let program = env!("CARGO_BIN_EXE_resources_worker");
    stage::worker(program, &place.url(), tasks, more)
}

/// Asks it to stop, and sees it end well.
#[track_caller]
pub(crate) fn stop(worker: &Worker) {
    worker.term();
    let status = worker.wait_exit(BOUND);
    assert_eq!(status.code(), Some(0), "{}", worker.report());
}

/// A client of a database whose tables are there.
pub(crate) async fn client(place: &Place) -> Client {
    place.migrate().await;
    connected(place).await
}

/// One more client.
pub(crate) async fn connected(place: &Place) -> Client {
    let connected = Client::connect(&place.url()).await;
    connected.expect("the tables are there")
}

/// What most jobs carry.
pub(crate) fn errand(invoice: u32, hangs: bool) -> Value {
    json!({ "invoice": invoice, "hangs": hangs })
}

/// Waits until a statement answers this number.
pub(crate) async fn until(place: &Place, wanted: i64, statement: &str) {
    let mut database = place.connect().await;
    eventually_async(BOUND, async || {
        let rows = database.run(statement).await.expect("it is a statement");
        (integer(&rows[0][0]) == wanted).then_some(())
    })
    .await;
}

/// Waits until no enqueued job of a task waits, is parked or runs any more; all of them are done then.
pub(crate) async fn all_done(place: &Place, task: &str) {
    let open = format!(
        "SELECT count(*) FROM tasklock_job WHERE task = '{task}' AND state IN ('ready', 'running')"
    );
    until(place, 0, &open).await;
    let other = format!(
        "SELECT id, state, attempt, last_outcome, last_error FROM tasklock_job
         WHERE task = '{task}' AND state <> 'done' LIMIT 5"
    );
    let other = place.run(&other).await;
    assert!(other.is_empty(), "{other:?}");
}

/// The one number that a statement answers.
pub(crate) async fn count(place: &Place, statement: &str) -> i64 {
    let rows = place.run(statement).await;
    integer(&rows[0][0])
}

fn integer(text: &Option<String>) -> i64 {
    let number = text.as_deref().map(str::parse);
    match number {
        Some(Ok(number)) => number,
        _ => panic!("{text:?} is no number"),
    }
}

/// When a process said something, by the machine's clock.
#[track_caller]
pub(crate) fn at(event: &Event) -> Duration {
    event.boottime().expect("it tells")
}

/// Two holders of one name never overlap by the store's clock, and their fences increase; answers how many names
/// there were.
#[track_caller]
pub(crate) fn one_at_a_time(notes: &[Note]) -> usize {
    let mut names = 1;
    for pair in notes.windows(2) {
        let [one, next] = pair else { continue };
        if one.name != next.name {
            names += 1;
            continue;
        }
        assert!(one.fence < next.fence, "one fence, two holders: {pair:?}");
        assert!(one.lasted <= next.began, "two at once: {pair:?}");
    }
    names
}
