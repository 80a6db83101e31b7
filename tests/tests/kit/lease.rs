//! `TestLease`: what a handler sees that is called as a function.

use std::time::Duration;

use jiff::Timestamp;
use tasklock_runtime::testing::TestLease;
use tasklock_runtime::{LeaseContext, LeaseLost, RenewError, TaskResult, locked_task};
use tokio::task::spawn_blocking;

const SECOND: Duration = Duration::from_secs(1);

#[locked_task]
async fn waits_for_the_end(lease: LeaseContext) -> TaskResult {
    tokio::select! {
        lost = lease.lost() => Err(lost)?,
        () = lease.shutdown() => Ok(()),
    }
}

#[tokio::test]
async fn it_says_what_the_test_says() {
    let due = Timestamp::from_second(77).expect("it is one");
    let lease = TestLease::new("refresh")
        .attempt(3)
        .fence(9)
        .job_id(5)
        .scheduled_for(due)
        .ttl(10 * SECOND);
    let context = lease.context();
    assert_eq!(context.task(), "refresh");
    assert_eq!((context.attempt(), context.fence()), (3, 9));
    assert_eq!((context.job_id(), context.scheduled_for()), (5, due));
    assert_eq!(context.remaining(), 8 * SECOND, "four fifths of the ttl");
    assert_eq!(context.check(), Ok(()));
    assert!(!context.is_shutting_down());
}

#[tokio::test(start_paused = true)]
async fn a_loss_wakes_the_handler_with_its_reason() {
    let lease = TestLease::new("waits");
    let running = tokio::spawn(waits_for_the_end(lease.context()));
    tokio::task::yield_now().await;
    assert!(!running.is_finished());
    lease.lose(LeaseLost::TakenOver);
    lease.lose(LeaseLost::Expired);
    let ended = running.await.expect("it does not panic");
    let lost = ended.expect_err("it was lost");
    assert_eq!(lost.downcast_ref(), Some(&LeaseLost::TakenOver));
    assert!(lease.context().cancellation_token().is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn the_deadline_passes_when_the_test_says_so_and_not_before() {
    let lease = TestLease::new("waits").ttl(10 * SECOND);
    let context = lease.context();
    // However much time passes elsewhere.
    tokio::time::sleep(3600 * SECOND).await;
    assert_eq!(context.remaining(), 8 * SECOND);
    lease.advance(8 * SECOND - Duration::from_nanos(1));
    assert_eq!(context.remaining(), Duration::from_nanos(1));
    lease.expire();
    assert_eq!(context.check(), Err(LeaseLost::Expired));
    assert_eq!(context.remaining(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_is_woken_when_the_deadline_passes() {
    type Pass = fn(&TestLease);
    let pass: [Pass; 3] = [
        TestLease::expire,
        |lease| lease.advance(60 * SECOND),
        |lease| lease.suspend(60 * SECOND),
    ];
    for pass in pass {
        let lease = TestLease::new("waits");
        let waiting = tokio::spawn(waits_for_the_end(lease.context()));
        tokio::task::yield_now().await;
        let passed = tokio::time::Instant::now();
        pass(&lease);
        assert!(waiting.await.expect("it does not panic").is_err());
        // It would look again by itself, but later.
        assert_eq!(passed.elapsed(), Duration::ZERO);
    }
}

#[tokio::test]
async fn a_suspend_is_told_from_any_other_expiry() {
    let lease = TestLease::new("waits");
    lease.suspend(SECOND);
    assert_eq!(lease.context().check(), Ok(()));
    lease.suspend(60 * SECOND);
    assert_eq!(lease.context().lost().await, LeaseLost::Suspended);
}

#[tokio::test]
async fn shutting_down_is_seen() {
    let lease = TestLease::new("waits");
    let running = tokio::spawn(waits_for_the_end(lease.context()));
    lease.shut_down();
    assert!(running.await.expect("it does not panic").is_ok());
    assert!(lease.context().is_shutting_down());
}

#[tokio::test]
async fn renewals_are_confirmed_unless_the_test_says_otherwise() {
    let lease = TestLease::new("renews").ttl(10 * SECOND);
    let context = lease.context();
    for _ in 0..3 {
        lease.advance(7 * SECOND);
        assert_eq!(context.remaining(), SECOND);
        assert_eq!(context.renew().await, Ok(()));
        assert_eq!(context.remaining(), 8 * SECOND);
    }
    let unconfirmed = Err(RenewError::Unconfirmed("the store is away".into()));
    lease.answer_renewals(unconfirmed.clone());
    lease.advance(7 * SECOND);
    assert_eq!(context.renew().await, unconfirmed);
    assert_eq!(context.remaining(), SECOND);

    lease.answer_renewals(Err(RenewError::Lost(LeaseLost::TakenOver)));
    let lost = Err(RenewError::Lost(LeaseLost::TakenOver));
    assert_eq!(context.renew().await, lost);
    assert_eq!(context.check(), Err(LeaseLost::TakenOver));
    assert_eq!(lease.renewals(), 5);

    // It is lost: nobody is asked any more.
    lease.answer_renewals(Ok(()));
    assert_eq!(context.renew().await, lost);
    assert_eq!(lease.renewals(), 5);
}

/// Renews, and waits for the end of its lease.
#[locked_task]
fn blocks(lease: LeaseContext) -> TaskResult {
    lease.blocking_renew()?;
    Err(lease.blocking_lost())?
}

#[tokio::test]
async fn blocking_calls_work_on_a_blocking_thread() {
    let lease = TestLease::new("blocks");
    let context = lease.context();
    let running = spawn_blocking(move || blocks(context).map_err(|error| error.to_string()));
    lease.lose(LeaseLost::Stalled);
    let ended = running.await.expect("it does not panic");
    assert_eq!(ended, Err(LeaseLost::Stalled.to_string()));
}

#[test]
fn they_work_in_a_plain_test_too() {
    let lease = TestLease::new("blocks");
    let context = lease.context();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| blocks(context).map_err(|error| error.to_string()));
        lease.lose(LeaseLost::Stalled);
        let ended = running.join().expect("it does not panic");
        assert_eq!(ended, Err(LeaseLost::Stalled.to_string()));
    });
}

/// It made a runtime of its own, which must not be waited for.
#[test]
fn a_lease_of_a_plain_test_may_be_dropped_in_async_code() {
    let lease = TestLease::new("moves");
    assert_eq!(lease.context().blocking_renew(), Ok(()));
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime
        .expect("there are threads")
        .block_on(async move { drop(lease) });
}

#[test]
#[should_panic(expected = "before its first `context()`")]
fn what_a_handler_has_seen_is_not_changed() {
    let lease = TestLease::new("refresh");
    let _seen = lease.context();
    let _ = lease.attempt(2);
}
