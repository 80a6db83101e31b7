//! The word, and the races for it.

use super::*;

#[derive(Debug, Default)]
struct Hands {
    now: AtomicU64,
    suspended: AtomicU64,
}

impl Clock for Hands {
    fn now(&self) -> Moment {
        Moment::from_nanos(self.now.load(Ordering::SeqCst))
    }

    fn suspended(&self) -> Duration {
        Duration::from_nanos(self.suspended.load(Ordering::SeqCst))
    }
}

fn at(seconds: u64) -> Moment {
    Moment::from_nanos(seconds * 1_000_000_000)
}

fn lease_until_10s() -> (Arc<Hands>, LeaseStatus) {
    let hands = Arc::new(Hands::default());
    hands.now.store(at(1).as_nanos(), Ordering::SeqCst);
    let status = LeaseStatus::held(at(10), hands.clone());
    (hands, status)
}

#[test]
fn held_until_the_deadline_and_not_a_nanosecond_longer() {
    let (hands, status) = lease_until_10s();
    assert_eq!(status.check(), Ok(Duration::from_secs(9)));
    hands.now.store(at(10).as_nanos() - 1, Ordering::SeqCst);
    assert_eq!(status.check(), Ok(Duration::from_nanos(1)));
    hands.now.store(at(10).as_nanos(), Ordering::SeqCst);
    assert_eq!(status.check(), Err(LeaseLost::Expired));
    assert!(status.token().is_cancelled());
}

#[test]
fn a_confirmation_in_time_extends_and_never_shortens() {
    let (hands, status) = lease_until_10s();
    assert!(status.extend(at(20)));
    assert!(status.extend(at(15)));
    hands.now.store(at(19).as_nanos(), Ordering::SeqCst);
    assert_eq!(status.check(), Ok(Duration::from_secs(1)));
}

#[test]
fn a_confirmation_after_the_deadline_is_too_late_and_loss_is_sticky() {
    let (hands, status) = lease_until_10s();
    hands.now.store(at(11).as_nanos(), Ordering::SeqCst);
    assert!(!status.extend(at(20)));
    hands.now.store(at(2).as_nanos(), Ordering::SeqCst);
    assert_eq!(status.check(), Err(LeaseLost::Expired));
    assert!(!status.extend(at(30)));
    assert_eq!(status.lose(LeaseLost::TakenOver), LeaseLost::Expired);
}

#[test]
fn the_reason_is_the_one_that_was_suspected() {
    let (hands, status) = lease_until_10s();
    status.suspect(LeaseLost::StoreUnreachable);
    hands.now.store(at(10).as_nanos(), Ordering::SeqCst);
    assert_eq!(status.check(), Err(LeaseLost::StoreUnreachable));
}

#[test]
fn a_confirmation_clears_the_suspicion() {
    let (hands, status) = lease_until_10s();
    status.suspect(LeaseLost::StoreUnreachable);
    assert!(status.extend(at(20)));
    hands.now.store(at(20).as_nanos(), Ordering::SeqCst);
    assert_eq!(status.check(), Err(LeaseLost::Expired));
}

#[test]
fn a_suspend_past_the_deadline_is_named() {
    let (hands, status) = lease_until_10s();
    hands.suspended.store(at(60).as_nanos(), Ordering::SeqCst);
    hands.now.store(at(61).as_nanos(), Ordering::SeqCst);
    assert_eq!(status.check(), Err(LeaseLost::Suspended));
}

#[test]
fn losing_wakes_the_waiting_and_keeps_the_first_reason() {
    let (_, status) = lease_until_10s();
    assert_eq!(status.lose(LeaseLost::TakenOver), LeaseLost::TakenOver);
    assert_eq!(status.lose(LeaseLost::Released), LeaseLost::TakenOver);
    assert!(status.token().is_cancelled());
    assert_eq!(status.deadline(), None);
}

#[test]
fn sealing_ends_the_belief_and_keeps_the_deadline() {
    let (_, status) = lease_until_10s();
    assert_eq!(status.seal(), Some(at(10)));
    assert_eq!(status.check(), Err(LeaseLost::Released));
    assert!(!status.extend(at(20)));
    assert_eq!(status.seal(), None);
}

#[test]
fn an_inner_lease_is_lost_with_its_outer_one_and_not_the_other_way_round() {
    let (hands, run) = lease_until_10s();
    let run = Arc::new(run);
    let inner = |deadline| LeaseStatus::held(deadline, hands.clone()).within(Arc::clone(&run));
    let (short, long, given_up) = (inner(at(5)), inner(at(20)), inner(at(20)));
    assert_eq!(short.check(), Ok(Duration::from_secs(4)));
    assert_eq!(long.check(), Ok(Duration::from_secs(9)));
    given_up.lose(LeaseLost::Released);
    hands.now.store(at(5).as_nanos(), Ordering::SeqCst);
    assert_eq!(short.check(), Err(LeaseLost::Expired));
    assert_eq!(run.check(), Ok(Duration::from_secs(5)));
    run.lose(LeaseLost::TakenOver);
    assert!(long.token().is_cancelled());
    assert_eq!(long.check(), Err(LeaseLost::TakenOver));
    assert!(!long.extend(at(30)));
    assert_eq!(short.check(), Err(LeaseLost::Expired));
    assert_eq!(given_up.check(), Err(LeaseLost::Released));
}

/// The race that the compare-and-swaps decide, on real threads.
#[test]
fn extension_and_expiry_race_to_one_verdict() {
    for round in 0..2_000 {
        let (hands, status) = lease_until_10s();
        let extended = std::thread::scope(|scope| {
            let extender = scope.spawn(|| status.extend(at(20)));
            hands.now.store(at(12).as_nanos(), Ordering::SeqCst);
            let seen = status.check();
            let extended = extender.join().unwrap_or(false);
            assert!(
                seen.is_ok() == status.check().is_ok(),
                "round {round}: the verdict changed"
            );
            extended
        });
        assert_eq!(extended, status.check().is_ok(), "round {round}");
    }
}
