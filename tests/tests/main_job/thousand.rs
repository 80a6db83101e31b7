//! A thousand leases in one process.

use std::process::Command;

use tasklock_test_support::postgres;
use tasklock_test_support::process::Worker;
use tasklock_test_support::stats::Statements;
use tasklock_test_support::wait::eventually_async;

use crate::support::{BOUND, alone, print, started};
use tasklock_tests::stage::database::Database;

const LEASES: i64 = 1_000;
const BEATS: i64 = 4;

#[tokio::test]
async fn a_beat_for_a_thousand_leases_takes_three_statements_at_most() {
    let _turn = alone().await;
    let Some(database) = postgres::database().await else {
        return;
    };
    let names: Vec<String> = (0..LEASES).map(|n| format!("held_{n:03}")).collect();
    let mut command = Command::new(env!("CARGO_BIN_EXE_many_tasks"));
    started(&mut command, database.url(), &names.join(",")).env("TASKLOCK_CONCURRENCY", "1000");
    let worker = Worker::spawn(&mut command);
    worker.wait_for(BOUND, |event| event.is("all"));

    let mut statements = Statements::from_now(&database).await;
    let mut beside = Database::connect(database.server_url())
        .await
        .expect("the server is there");
    // A lease is renewed once a beat.
    let renewed = format!(
        "SELECT coalesce(sum(rows), 0)::bigint FROM pg_stat_statements JOIN pg_database ON dbid = oid
         WHERE datname = '{}' AND query ~ 'INSERT INTO tasklock_heartbeat'",
        database.name()
    );
    let renewals = eventually_async(BOUND, async || {
        let rows = beside.run(&renewed).await.expect("the server counts");
        let renewals: i64 = rows[0][0].as_deref()?.parse().ok()?;
        (renewals >= BEATS * LEASES).then_some(renewals)
    })
    .await;
    let (beating, all) = (
        statements.calls("tasklock_heartbeat").await,
        statements.total().await,
    );
    let list = statements.list().await;
    worker.term();
    let status = worker.wait_exit(BOUND);
    assert!(status.success(), "{}", worker.report());

    let per_beat = |calls: i64| (calls * LEASES * 100 / renewals) as f64 / 100.0;
    assert!(per_beat(all) <= 3.0, "{} a beat: {list:#?}", per_beat(all));
    assert!(worker.events().iter().all(|event| !event.is("lost")));
    let mut own = Database::connect(database.url())
        .await
        .expect("the database is there");
    // The worker's sessions have ended, and so handed over what they counted.
    let updates = own
        .run(
            "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables
             WHERE relname = 'tasklock_heartbeat'",
        )
        .await
        .expect("the server counts");
    let count = |column: usize| -> f64 {
        let text = updates[0][column].as_deref();
        text.expect("a count").parse().expect("a number")
    };
    let hot = count(1) / count(0);
    assert!(hot > 0.9, "{hot:.3} of the renewals are heap-only");
    print(&format!(
        "postgres: {LEASES} leases: {:.2} renewing and {:.2} statements of any kind a beat; {hot:.3} \
         of {} renewals are heap-only updates",
        per_beat(beating),
        per_beat(all),
        count(0)
    ));
}
