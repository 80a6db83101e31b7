//! A database that is far away: opening a connection takes many round trips, and must not cost the
//! lease of a task whose calls are quick enough.

use std::time::Duration;

use tasklock_test_support::proxy::{Mode, Proxy};

use crate::support::{BOUND, Place, beside, start_of, worker};

/// Each way: as between two neighbouring regions.
const DELAY: Duration = Duration::from_millis(15);

#[tokio::test]
async fn a_short_lease_is_kept_over_a_long_way() {
    let _turn = beside().await;
    let Some(place) = Place::postgres().await else {
        return;
    };
    let proxy = Proxy::before(&place.url()).expect("a port is free");
    proxy.set(Mode::delay(DELAY));
    // A ttl of 1 s: a call may take 125 ms, four round trips.
    let holder = worker(&proxy.url(&place.url()), "block", &[]);
    start_of(&holder);
    let end = holder.wait_for(BOUND, |event| event.is("end"));
    assert_eq!(end.str("lost"), None, "{}", holder.report());
}
