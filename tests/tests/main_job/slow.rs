//! A database that is too slow for a short lease: the long ones of the same process are kept.

use std::time::Duration;

use tasklock_test_support::process::boottime;

use crate::support::{BOUND, Place, beside, print, worker};

/// A renewal takes 300 ms: a ttl of 1 s allows 125 ms for a call, one of 20 s allows 2.5 s. One that is
/// given up is not carried out: else the short leases would be away for longer, and all at once.
const SLOW: &str = "
    CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM pg_sleep(0.3); RETURN NULL;
    END $$;
    CREATE TRIGGER slow BEFORE INSERT ON tasklock_heartbeat
        FOR EACH STATEMENT EXECUTE FUNCTION slow()";
const GIVE_UP: &str = "
    DO $$ BEGIN EXECUTE format(
        'ALTER DATABASE %I SET client_connection_check_interval = 20', current_database());
    END $$";
/// How often the long lease must be renewed while short ones are lost.
const RENEWALS: usize = 2;
/// A renewal that began before it was slow has come back by then.
const UNDER_WAY: Duration = Duration::from_secs(1);
/// Less than the long lease lasts without a renewal.
const SOON: Duration = Duration::from_secs(14);

#[tokio::test]
async fn short_leases_take_no_long_one_along() {
    let _turn = beside().await;
    let Some(place) = Place::postgres().await else {
        return;
    };
    place.run(GIVE_UP).await;
    let brief = ["a", "b", "c", "d", "e", "f", "g", "h"].map(|brief| format!("brief_{brief}"));
    let holder = worker(&place.url(), &format!("watched,{}", brief.join(",")), &[]);
    for task in brief.iter().map(String::as_str).chain(["watched"]) {
        holder.wait_for(BOUND, |event| event.str("task") == Some(task));
    }
    place.run(SLOW).await;
    let slow = boottime();
    for _ in 0..RENEWALS {
        holder.wait_for(SOON, |event| {
            event.is("renewed") && event.boottime() > Some(slow + UNDER_WAY)
        });
    }
    let lost = |task: &str| {
        let events = holder.events();
        let ends = events
            .iter()
            .filter(|event| event.is("end") && event.str("task") == Some(task));
        ends.count()
    };
    assert_eq!(lost("watched"), 0, "{}", holder.report());
    let lost = brief.each_ref().map(|task| lost(task));
    assert!(lost.iter().all(|lost| *lost > 0), "{}", holder.report());
    print(&format!(
        "postgres: renewals of 300 ms: short leases were lost {lost:?} times, one of 20 s \
         beside them was renewed all the while"
    ));
}
