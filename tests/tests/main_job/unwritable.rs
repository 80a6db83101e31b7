//! An end that cannot be written: that of one run holds up nobody else's.

use std::time::Duration;

use tasklock_test_support::postgres;
use tasklock_test_support::process::{Worker, boottime};
use tasklock_test_support::wait::eventually_async;

use crate::support::{BOUND, Place, beside, number, worker};

/// Two ttls of the task `brisk`.
const LONG: Duration = Duration::from_secs(2);

/// Makes each end of `brisk` take a second.
const SLOW: &str = "
    CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM pg_sleep(1); RETURN new;
    END $$;
    CREATE TRIGGER slow BEFORE UPDATE ON tasklock_job FOR EACH ROW
        WHEN (new.task = 'brisk' AND new.state = 'ready') EXECUTE FUNCTION slow()";

on_both! {
    beside: a_text_that_is_refused_is_written_plainly,
    beside: an_end_that_is_refused_holds_up_nobody,
}

async fn a_text_that_is_refused_is_written_plainly(place: Place) {
    // On Postgres a trigger could do it too; the test below has what it really is.
    refuse(&place, "new.last_error LIKE '%\u{1f4c4}%'").await;
    plainly(&place).await;
}

#[tokio::test]
async fn a_character_that_the_database_cannot_hold_is_written_plainly() {
    let _turn = beside().await;
    if let Some(database) = postgres::database_in("LATIN1").await {
        plainly(&Place::Postgres(database)).await;
    }
}

async fn plainly(place: &Place) {
    let worker = worker(&place.url(), "garbled,brisk", &[]);
    for _ in 0..3 {
        for task in ["garbled", "brisk"] {
            first_attempt(&worker, task);
        }
    }
    worker.term();
    assert!(worker.wait_exit(BOUND).success(), "{}", worker.report());
    let row = place.row("garbled").await;
    assert_eq!((row.outcome.as_deref(), row.crashes), (Some("failed"), 0));
    let error = row.error.expect("it is kept");
    assert_eq!(error, r"the page \u{1f4c4} is missing");
}

/// Whatever its text is.
async fn an_end_that_is_refused_holds_up_nobody(place: Place) {
    refuse(&place, "new.last_outcome = 'failed'").await;
    let worker = worker(&place.url(), "fail,brisk", &[]);
    worker.wait_for(BOUND, |event| event.str("task") == Some("fail"));
    others_go_on(&worker);
    let row = place.row("fail").await;
    assert_eq!((&*row.state, row.outcome), ("running", None));
}

/// Somebody else's transaction holds its row, for longer than the ttl of the tasks beside it.
#[tokio::test]
async fn an_end_whose_row_is_locked_holds_up_nobody() {
    let _turn = beside().await;
    let Some(place) = Place::postgres().await else {
        return;
    };
    let (mut gate, mut lock) = (place.connect().await, place.connect().await);
    let free = "the test's database answers";
    gate.run("SELECT pg_advisory_lock(7)").await.expect(free);
    let worker = worker(&place.url(), "awaits,brisk", &[]);
    let start = worker.wait_for(BOUND, |event| event.str("task") == Some("awaits"));
    lock.run("BEGIN; SELECT 1 FROM tasklock_job WHERE task = 'awaits' FOR UPDATE")
        .await
        .expect(free);
    gate.run("SELECT pg_advisory_unlock(7)").await.expect(free);
    worker.wait_for(BOUND, |event| event.is("end"));
    others_go_on(&worker);
    assert_eq!(place.row("awaits").await.state, "running");
    lock.run("ROLLBACK").await.expect(free);
    let row = eventually_async(BOUND, async || {
        let row = place.row("awaits").await;
        (row.state == "ready").then_some(row)
    })
    .await;
    assert_eq!(row.outcome.as_deref(), Some("succeeded"));
    assert_eq!(row.fence, number(&start, "fence"));
}

/// For long, and each time their ends were written.
fn others_go_on(worker: &Worker) {
    let until = boottime() + LONG;
    while first_attempt(worker, "brisk") < until {}
}

/// When the next run of this task started.
#[track_caller]
fn first_attempt(worker: &Worker, task: &str) -> Duration {
    let start = worker.wait_for(BOUND, |event| {
        event.is("start") && event.str("task") == Some(task)
    });
    assert_eq!(number(&start, "attempt"), 1, "{}", worker.report());
    start.boottime().expect("it tells")
}

/// Makes the tables, and refuses what is written to a job's row under this condition.
async fn refuse(place: &Place, condition: &str) {
    let store = place.store().await;
    store.migrate().await.expect("the database is empty");
    store.close().await;
    let statement = match place {
        Place::Sqlite(_) => format!(
            "CREATE TRIGGER refuse BEFORE UPDATE ON tasklock_job WHEN {condition}
             BEGIN SELECT RAISE(ABORT, 'refused'); END"
        ),
        Place::Postgres(_) => format!(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                RAISE EXCEPTION 'refused'; END $$;
             CREATE TRIGGER refuse BEFORE UPDATE ON tasklock_job FOR EACH ROW
                WHEN ({condition}) EXECUTE FUNCTION refuse()"
        ),
    };
    place.run(&statement).await;
}

/// An end that was written together with one that is refused is not tried again, and taken for somebody
/// else's: what the store has answered stays known.
#[tokio::test]
async fn an_end_beside_one_that_is_refused_is_known_to_be_written() {
    let _turn = beside().await;
    let Some(place) = Place::postgres().await else {
        return;
    };
    refuse(
        &place,
        "old.task = 'ignore' AND old.state = 'running' AND new.state = 'ready'",
    )
    .await;
    place.run(SLOW).await;
    let grace = ("TASKLOCK_SHUTDOWN_GRACE", "10ms");
    let worker = worker(&place.url(), "brisk,hold_long,ignore", &[grace]);
    for task in ["hold_long", "ignore"] {
        worker.wait_for(BOUND, |event| event.str("task") == Some(task));
    }
    // While the end of this one is being written, those of the two others gather to one batch.
    let sleeping = "SELECT 1 FROM pg_stat_activity
                     WHERE datname = current_database() AND wait_event = 'PgSleep'";
    eventually_async(BOUND, async || place.run(sleeping).await.pop()).await;
    worker.term();
    assert!(worker.wait_exit(BOUND).success(), "{}", worker.report());
    let row = place.row("hold_long").await;
    assert_eq!(row.outcome.as_deref(), Some("succeeded"));
    assert_eq!(place.row("ignore").await.state, "running");
    let said = worker.stderr();
    assert!(!said.contains("the end changed no row"), "{said}");
}
