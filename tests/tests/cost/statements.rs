//! What Postgres is asked for, and what it reads for it, by its own counts.

use std::process::Command;

use tasklock_runtime::Client;
use tasklock_test_support::postgres;
use tasklock_test_support::process::Worker;
use tasklock_test_support::stats::Statements;
use tasklock_test_support::wait::eventually_async;
use tasklock_tests::stage::database::Database;
use tasklock_tests::stage::{BOUND, print, started};

const JOBS: i64 = 10_000;
/// For 1,000 jobs, of all kinds; with a round trip for each job it would be as many and more.
const MOST_STATEMENTS: i64 = 150;
/// For each job: its row is found by a claim, and by the end; the parts of a claim look again.
const MOST_ROWS: i64 = 4;

#[tokio::test]
async fn a_thousand_jobs_take_few_statements_and_no_search() {
    let Some(database) = postgres::database().await else {
        return;
    };
    // The tables are made by a worker that finds nothing.
    let worker = |tasks| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jobs_worker"));
        let command = started(&mut command, database.url(), tasks);
        Worker::spawn(command.env("TASKLOCK_CONCURRENCY", "16"))
    };
    let first = worker("nothing");
    tasklock_tests::stage::ready(&first);
    first.term();
    assert!(first.wait_exit(BOUND).success(), "{}", first.report());
    let client = Client::connect(database.url()).await.expect("it is there");
    let jobs = client.enqueue_many("nothing", 0..JOBS).await;
    jobs.expect("the database takes them");
    let mut own = Database::connect(database.url())
        .await
        .expect("the database is there");
    let mut number = async |sql: &str| -> i64 {
        let rows = own.run(sql).await.expect("the server counts");
        rows[0][0]
            .as_deref()
            .expect("it is not null")
            .parse()
            .expect("a number")
    };
    number("SELECT count(*) FROM (SELECT pg_stat_reset()) r").await;
    let mut statements = Statements::from_now(&database).await;

    let worker = worker("nothing");
    eventually_async(BOUND, async || {
        let left =
            "SELECT count(*) FROM (SELECT 1 FROM tasklock_job WHERE task = 'nothing' LIMIT 1) l";
        (number(left).await == 0).then_some(())
    })
    .await;
    let looks = statements.calls("l$").await;
    worker.term();
    // Its sessions end, and so hand over what they counted.
    assert!(worker.wait_exit(BOUND).success(), "{}", worker.report());

    let (all, commits) = (
        statements.total().await - looks,
        statements.calls("^commit").await,
    );
    let a_thousand = |count: i64| count * 1_000 / JOBS;
    let list = statements.list().await;
    assert!(
        a_thousand(all) <= MOST_STATEMENTS,
        "{all} for {JOBS} jobs: {list:#?}"
    );
    let read = number(
        "SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables
         WHERE relname = 'tasklock_job'",
    )
    .await;
    let read = read / JOBS;
    assert!(read <= MOST_ROWS, "{read} rows read for a job");
    print(
        "cost",
        &format!(
            "postgres: {} statements in {} transactions for 1,000 jobs; {read} rows read a job",
            a_thousand(all),
            a_thousand(commits)
        ),
    );
}
