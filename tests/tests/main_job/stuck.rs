//! A worker that is stopped in the midst of a transaction of the runtime's: its row locks must not
//! keep everybody else from the job for as long as its connection lasts.

use std::time::Duration;

use tasklock_test_support::process::boottime;
use tasklock_test_support::wait::eventually_async;

use crate::support::{BOUND, Place, beside, print, ready, worker};

/// The task's ttl, one poll, and what a transaction may be left alone for.
const MOST: Duration = Duration::from_secs(2 + 1 + 3);

/// Makes each claim of the worker `slow` take a second, inside its transaction.
const SLOW: [&str; 2] = [
    "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF new.lock_worker = 'slow' THEN PERFORM pg_sleep(1); END IF;
        RETURN new;
    END $$",
    "CREATE TRIGGER slow BEFORE UPDATE ON tasklock_job FOR EACH ROW EXECUTE FUNCTION slow()",
];

#[tokio::test]
async fn a_worker_stopped_in_its_claim_blocks_nobody_for_long() {
    let _turn = beside().await;
    let Some(place) = Place::postgres().await else {
        return;
    };
    let store = place.store().await;
    store.migrate().await.expect("the database is empty");
    store.close().await;
    for statement in SLOW {
        place.run(statement).await;
    }
    let stopped = worker(&place.url(), "hold", &[("TASKLOCK_WORKER_NAME", "slow")]);
    let sleeping = "SELECT 1 FROM pg_stat_activity
                     WHERE datname = current_database() AND wait_event = 'PgSleep'";
    eventually_async(BOUND, async || place.run(sleeping).await.pop()).await;
    stopped.stop();
    let other = worker(&place.url(), "hold", &[]);
    ready(&other);
    let from = boottime();
    let start = other.wait_for(MOST, |event| event.is("start"));
    // Nothing was committed: it is a first attempt.
    assert_eq!(start.u64("attempt"), Some(1));
    let took = start.boottime().expect("it tells").saturating_sub(from);
    print(&format!(
        "postgres: stopped in the midst of its claim; another worker started the task after \
         {took:.1?}"
    ));
}
