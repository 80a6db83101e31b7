//! Where the cases run, who runs in them, and what the database saw of it.

mod audit;

pub(crate) use audit::{Audit, What};
pub(crate) use tasklock_tests::stage::{BOUND, Place, cpu, number, ready, spread, start_of};

use std::time::Duration;

use tasklock_runtime::Client;
use tasklock_test_support::process::Worker;
use tasklock_test_support::wait::{eventually_async, try_eventually_async};
use tasklock_tests::stage;

/// One line on standard error, whatever the harness captures.
pub(crate) fn print(line: &str) {
    stage::print("jobs", line);
}

/// Starts a worker with these tasks on this database.
#[track_caller]
pub(crate) fn worker(place: &Place, tasks: &str, more: &[(&str, &str)]) -> Worker {
    let program = env!("CARGO_BIN_EXE_jobs_worker");
    stage::worker(program, &place.url(), tasks, more)
}

/// Asks it to stop, and sees it end well.
#[track_caller]
pub(crate) fn stop(worker: &Worker) {
    worker.term();
    ended_well(worker);
}

#[track_caller]
pub(crate) fn ended_well(worker: &Worker) {
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

/// Waits until no job of a task waits or runs any more.
pub(crate) async fn all_over(place: &Place, task: &str) {
    let over = over_within(place, task, BOUND).await;
    if !over {
        let states = format!(
            "SELECT state, last_outcome, last_error, attempt, crashes, count(*) FROM tasklock_job
             WHERE task = '{task}' GROUP BY 1, 2, 3, 4, 5"
        );
        panic!("jobs are left: {:?}", place.run(&states).await);
    }
}

/// Whether that happens within some time.
pub(crate) async fn over_within(place: &Place, task: &str, time: Duration) -> bool {
    let open = format!(
        "SELECT 1 FROM tasklock_job WHERE task = '{task}' AND state = 'ready' AND due_at IS NOT NULL
         UNION ALL SELECT 1 FROM tasklock_job WHERE task = '{task}' AND state = 'running' LIMIT 1"
    );
    let mut database = place.connect().await;
    let over = try_eventually_async(time, async || {
        let found = database.run(&open).await.expect("the tables are there");
        found.is_empty().then_some(())
    });
    over.await.is_some()
}

/// Waits until a statement answers a number that is at least so great.
pub(crate) async fn until_at_least(place: &Place, least: i64, statement: &str) {
    let mut database = place.connect().await;
    let reached = eventually_async(BOUND, async || {
        let rows = database.run(statement).await.expect("it is a statement");
        (integer(rows[0][0].as_deref()) >= least).then_some(())
    });
    reached.await;
}

/// The one number that a statement answers.
pub(crate) async fn count(place: &Place, statement: &str) -> i64 {
    let rows = place.run(statement).await;
    integer(rows[0][0].as_deref())
}

pub(crate) fn integer(text: Option<&str>) -> i64 {
    let number = text.map(str::parse);
    match number {
        Some(Ok(number)) => number,
        _ => panic!("{text:?} is no number"),
    }
}

/// Microseconds, as the database counts.
pub(crate) fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).expect("it fits")
}
