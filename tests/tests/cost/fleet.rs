//! What eight workers ask Postgres for when one slot falls due, by its own counts.

use std::process::Command;

use tasklock_test_support::postgres;
use tasklock_test_support::process::Worker;
use tasklock_test_support::stats::Statements;
use tasklock_test_support::wait::eventually_async;
use tasklock_tests::stage::database::Database;
use tasklock_tests::stage::{BOUND, print, ready, started};

const WORKERS: usize = 8;
/// Runs before it is counted: until then who looks first is not settled.
const BEFORE: i64 = 10;
const RUNS: i64 = 40;
/// Looks a run. Where nobody hears of the looks of others it was nine and more.
const MOST: i64 = 2;

#[tokio::test]
async fn one_worker_looks_when_a_slot_falls_due() {
    let Some(database) = postgres::database().await else {
        return;
    };
    let workers: Vec<Worker> = (0..WORKERS)
        .map(|_| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_main_job_worker"));
            Worker::spawn(started(&mut command, database.url(), "ticks"))
        })
        .collect();
    workers.iter().for_each(ready);
    let mut own = Database::connect(database.url())
        .await
        .expect("the database is there");
    let mut runs = async |at_least: i64| -> i64 {
        eventually_async(BOUND, async || {
            let sql = "SELECT fence FROM tasklock_job WHERE task = 'ticks'";
            let rows = own.run(sql).await.expect("the server answers");
            let fence: i64 = rows.first()?[0].as_deref()?.parse().ok()?;
            (fence >= at_least).then_some(fence)
        })
        .await
    };
    let before = runs(BEFORE).await;
    let mut statements = Statements::from_now(&database).await;
    let made = runs(before + RUNS).await - before;
    let looks = statements.calls("as alone from lane").await;
    print(
        "cost",
        &format!("postgres: {looks} looks of {WORKERS} workers for {made} runs of one task"),
    );
    assert!(
        (made..=MOST * made).contains(&looks),
        "{looks} for {made} runs: {:#?}",
        statements.list().await
    );
    for worker in workers {
        worker.term();
        assert!(worker.wait_exit(BOUND).success(), "{}", worker.report());
    }
}
