//! Rows or tables that go away while a worker runs: it brings its standing jobs back by itself.

use tasklock_test_support::process::{Event, Worker};
use tasklock_test_support::wait::eventually;

use crate::support::{BOUND, Place, number, start_of, worker};

/// The safety net is ten times as wide where announcements arrive; a deletion is not announced on Postgres.
const POLL: (&str, &str) = ("TASKLOCK_POLL_INTERVAL", "100ms");
/// The task's.
const TTL_US: i64 = 2_000_000;

on_both! {
    beside: deleted_rows_come_back,
    beside: rows_of_tables_made_anew_come_back,
}

async fn deleted_rows_come_back(place: Place) {
    let worker = worker(&place.url(), "hold", &[POLL]);
    let start = start_of(&worker);
    place.run("DELETE FROM tasklock_job").await;
    comes_back(&worker, &start, "taken_over");
}

async fn rows_of_tables_made_anew_come_back(place: Place) {
    let worker = worker(&place.url(), "hold", &[POLL]);
    let start = start_of(&worker);
    for statement in drop_all(&place).await {
        place.run(&statement).await;
    }
    eventually(BOUND, || worker.stderr().contains("the tables are missing"));
    let store = place.store().await;
    store.migrate().await.expect("nothing is in the way");
    store.close().await;
    comes_back(&worker, &start, "");
}

/// The task runs again, and not before the run whose row has gone has lost its lease.
#[track_caller]
fn comes_back(worker: &Worker, start: &Event, reason: &str) {
    let end = worker.wait_for(BOUND, |event| event.is("end"));
    let lost = end.str("lost").unwrap_or_default();
    assert!(!lost.is_empty() && lost.contains(reason), "{}", end.line);
    let next = start_of(worker);
    assert!(next.boottime() >= end.boottime(), "{}", worker.report());
    assert!(number(&next, "wall_us") >= number(start, "wall_us") + TTL_US);
    assert!(
        worker.stderr().contains("declared anew"),
        "{}",
        worker.stderr()
    );
}

async fn drop_all(place: &Place) -> Vec<String> {
    let sql = match place {
        Place::Sqlite(_) => {
            "SELECT name FROM sqlite_schema WHERE name LIKE 'tasklock%' AND type = 'table'"
        }
        Place::Postgres(_) => {
            "SELECT tablename::text FROM pg_tables WHERE tablename LIKE 'tasklock%'"
        }
    };
    let tables = place.run(sql).await.into_iter().flatten().flatten();
    tables.map(|table| format!("DROP TABLE {table}")).collect()
}
