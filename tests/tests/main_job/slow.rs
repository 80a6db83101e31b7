//! A database that is too slow for a short lease: the long ones of the same process are kept.

use std::time::Duration;

use tasklock_test_support::wait::eventually_async;

use crate::support::{BOUND, Place, beside, print, worker};

/// A renewal takes 300 ms: a ttl of 1 s allows 125 ms for a call, one of 20 s allows 2.5 s.
const SLOW: &str = "
    CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM pg_sleep(0.3); RETURN NULL;
    END $$;
    CREATE TRIGGER slow BEFORE INSERT ON tasklock_heartbeat
        FOR EACH STATEMENT EXECUTE FUNCTION slow()";
/// How far the long lease's expiry must have moved on, in microseconds, while short ones were lost.
const RENEWED: i64 = 4_000_000;
/// Less than the long lease lasts without a renewal.
const SOON: Duration = Duration::from_secs(14);

#[tokio::test]
async fn short_leases_take_no_long_one_along() {
    let _turn = beside().await;
    let Some(place) = Place::postgres().await else {
        return;
    };
    let brief = ["brief_a", "brief_b", "brief_c"];
    let holder = worker(&place.url(), "steady,brief_a,brief_b,brief_c", &[]);
    for task in brief.into_iter().chain(["steady"]) {
        holder.wait_for(BOUND, |event| event.str("task") == Some(task));
    }
    let until = async || {
        let row = place.row("steady").await;
        let renewed = row.side_until.filter(|_| row.side_fence == Some(row.fence));
        row.lock_until.max(renewed).expect("it is held")
    };
    place.run(SLOW).await;
    let before = until().await;
    eventually_async(SOON, async || {
        (until().await >= before + RENEWED).then_some(())
    })
    .await;
    let lost = |task: &str| {
        let events = holder.events();
        let ends = events
            .iter()
            .filter(|event| event.is("end") && event.str("task") == Some(task));
        ends.count()
    };
    assert_eq!(lost("steady"), 0, "{}", holder.report());
    let lost = brief.map(lost);
    assert!(lost.iter().all(|lost| *lost > 0), "{}", holder.report());
    print(&format!(
        "postgres: renewals of 300 ms: leases of 1 s were lost {lost:?} times, one of 20 s beside \
         them was renewed all the while"
    ));
}
