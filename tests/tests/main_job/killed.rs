//! A holder that is killed is replaced within its ttl and one poll interval.

use std::time::Duration;

use tasklock_test_support::process::boottime;

use crate::support::{BOUND, Place, number, print, ready, spread, start_of, worker};

const TTL: Duration = Duration::from_secs(2);
/// The default.
const POLL: Duration = Duration::from_secs(1);
const ROUNDS: usize = 5;

on_both! { alone: a_killed_holder_is_replaced }

async fn a_killed_holder_is_replaced(place: Place) {
    let start = || worker(&place.url(), "hold", &[]);
    let mut holder = start();
    let mut held = start_of(&holder);
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        let other = start();
        ready(&other);
        let killed = boottime();
        holder.kill();
        let taken = other.wait_for(BOUND, |event| event.is("start"));
        let took = taken.boottime().expect("it tells") - killed;
        assert!(took <= TTL + POLL, "round {round}: it took {took:?}");
        assert!(number(&taken, "fence") > number(&held, "fence"));
        assert_eq!(number(&taken, "attempt"), number(&held, "attempt") + 1);
        times.push(took);
        (holder, held) = (other, taken);
    }
    print(&format!(
        "{}: from SIGKILL of the holder (ttl {TTL:?}) to the next start, {ROUNDS} times: {}",
        place.kind(),
        spread(&mut times)
    ));
}
