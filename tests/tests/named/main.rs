//! Named leases as an application has them, on real databases: `client.lease(name)`.

#[macro_use]
extern crate tasklock_tests;

mod locks;
mod odd;
mod together;
mod waiting;

use std::time::Duration;

use tasklock_runtime::{Client, CommitError, Error, LeaseGuard, LeaseLost, StoreErrorKind};
use tasklock_test_support::wait::eventually_async;
use tasklock_tests::stage::Place;
use tokio::time::Instant;

const BOUND: Duration = Duration::from_secs(60);
/// Of a lease whose expiry a test waits for, or outlives.
const SHORT: Duration = Duration::from_secs(1);

on_both! {
    beside: it_excludes_others_and_is_given_back,
    beside: it_lasts_while_a_clone_lives,
    beside: it_is_renewed_past_its_ttl,
    beside: a_stolen_one_is_lost_and_commits_nothing,
    beside: waiters_get_it_one_after_the_other,
    beside: a_waiter_of_another_process_gets_it,
    beside: who_waits_in_vain_gets_none,
    beside: a_dropped_acquisition_leaves_nothing_behind,
    beside: what_can_be_no_lease_is_refused,
    beside: callers_share_their_calls,
    beside: a_lone_caller_asks_once,
    beside: a_dropped_caller_takes_nobody_with_it,
    beside: a_name_is_asked_for_by_one_at_a_time,
    alone: sixteen_get_it_by_turns_and_ask_twice,
    beside: who_stops_waiting_makes_room_at_once,
    beside: a_dropped_wait_leaves_nothing_behind,
    beside: a_lock_of_a_run_ends_with_it,
    beside: a_lock_commits_while_both_are_held,
    beside: a_lock_is_waited_for_while_the_run_lasts,
    beside: a_bound_holds_while_other_calls_wait,
    beside: a_guard_that_locks_its_own_name_is_told,
    beside: a_future_may_be_dropped_outside_of_a_runtime,
}

use locks::{
    a_lock_commits_while_both_are_held, a_lock_is_waited_for_while_the_run_lasts,
    a_lock_of_a_run_ends_with_it, book,
};
use odd::{
    a_bound_holds_while_other_calls_wait, a_future_may_be_dropped_outside_of_a_runtime,
    a_guard_that_locks_its_own_name_is_told,
};
use together::{
    a_dropped_caller_takes_nobody_with_it, a_lone_caller_asks_once,
    a_name_is_asked_for_by_one_at_a_time, callers_share_their_calls,
};
use waiting::{
    a_dropped_wait_leaves_nothing_behind, sixteen_get_it_by_turns_and_ask_twice,
    who_stops_waiting_makes_room_at_once,
};

async fn client(place: &Place) -> Client {
    place.migrate().await;
    connected(place).await
}

async fn connected(place: &Place) -> Client {
    Client::connect(&place.url())
        .await
        .expect("the tables are there")
}

async fn held(client: &Client, name: &str) -> LeaseGuard {
    let acquired = client.lease(name).ttl(SHORT).try_acquire().await;
    acquired.expect("the store answers").expect("it is free")
}

async fn is_free(client: &Client, name: &str) -> bool {
    let acquired = client.lease(name).try_acquire().await;
    acquired.expect("the store answers").is_some()
}

/// Until the store has a lease back that was dropped.
async fn free_again(client: &Client, name: &str) {
    eventually_async(BOUND, async || is_free(client, name).await.then_some(())).await;
}

async fn it_excludes_others_and_is_given_back(place: Place) {
    let (one, other) = (client(&place).await, connected(&place).await);
    let first = held(&one, "tenant:42").await;
    assert_eq!((first.task(), first.check()), ("tenant:42", Ok(())));
    assert!(!is_free(&other, "tenant:42").await);
    assert!(is_free(&other, "tenant:43").await);
    let (fence, context) = (first.fence(), first.context());
    first.release().await;
    assert_eq!(context.check(), Err(LeaseLost::Released));
    // At once: it was waited for.
    let next = held(&other, "tenant:42").await;
    assert!(next.fence() > fence);
    drop(next);
    free_again(&one, "tenant:42").await;
}

async fn it_lasts_while_a_clone_lives(place: Place) {
    let client = client(&place).await;
    let one = held(&client, "name").await;
    let other = one.clone();
    one.release().await;
    assert_eq!(other.check(), Ok(()));
    assert!(!is_free(&client, "name").await);
    other.release().await;
    assert!(is_free(&client, "name").await);
}

async fn it_is_renewed_past_its_ttl(place: Place) {
    let client = client(&place).await;
    let guard = held(&client, "name").await;
    let context = guard.context();
    let end = Instant::now() + 3 * SHORT;
    eventually_async(BOUND, async || (Instant::now() >= end).then_some(())).await;
    assert_eq!(context.check(), Ok(()));
    assert!(!is_free(&client, "name").await);
    drop(guard);
    assert_eq!(context.check(), Err(LeaseLost::Released));
}

async fn a_stolen_one_is_lost_and_commits_nothing(place: Place) {
    let client = client(&place).await;
    let guard = held(&client, "name").await;
    place.run("CREATE TABLE effect (fence bigint)").await;
    book(&place, &guard).await.expect("it is held");
    place
        .run("UPDATE tasklock_job SET fence = fence + 1, lock_owner = 'a thief'")
        .await;
    let refused = book(&place, &guard).await;
    assert!(matches!(refused, Err(CommitError::Lost(_))), "{refused:?}");
    assert_eq!(guard.check(), Err(LeaseLost::TakenOver));
    let rows = place.run("SELECT count(*) FROM effect").await;
    assert_eq!(rows[0][0].as_deref(), Some("1"));
}

/// In the order in which they came; each asks the store only when its turn has come.
async fn waiters_get_it_one_after_the_other(place: Place) {
    let client = client(&place).await;
    let first = held(&client, "name").await;
    let (came, mut order) = tokio::sync::mpsc::unbounded_channel();
    let mut waiting = Vec::new();
    for number in 0..16 {
        let acquiring = client.lease("name").ttl(SHORT).acquire_within(BOUND);
        let came = came.clone();
        let mut acquiring = Box::pin(acquiring);
        // Once, so that it stands in the queue before the next one does.
        let polled = std::future::poll_fn(|cx| {
            std::task::Poll::Ready(std::future::Future::poll(acquiring.as_mut(), cx))
        });
        assert!(polled.await.is_pending());
        waiting.push(tokio::spawn(async move {
            let guard = acquiring
                .await
                .expect("the store answers")
                .expect("within the bound");
            came.send((number, guard.fence())).expect("the test waits");
            guard.release().await;
        }));
    }
    first.release().await;
    let mut last = 0;
    for number in 0..16 {
        let (who, fence) = order.recv().await.expect("all of them come");
        assert_eq!(who, number);
        assert!(fence > last);
        last = fence;
    }
    for waiter in waiting {
        waiter.await.expect("none panics");
    }
}

async fn a_waiter_of_another_process_gets_it(place: Place) {
    let (one, other) = (client(&place).await, connected(&place).await);
    let first = held(&one, "name").await;
    let waiting = tokio::spawn(async move {
        let acquired = other.lease("name").acquire_within(BOUND).await;
        acquired
            .expect("the store answers")
            .expect("within the bound")
    });
    drop(first);
    let guard = waiting.await.expect("it does not panic");
    assert_eq!(guard.check(), Ok(()));
}

async fn who_waits_in_vain_gets_none(place: Place) {
    let client = client(&place).await;
    let first = held(&client, "name").await;
    let wait = Duration::from_millis(300);
    let start = Instant::now();
    let acquired = client.lease("name").acquire_within(wait).await;
    assert!(acquired.expect("the store answers").is_none());
    assert!(start.elapsed() >= wait, "{:?}", start.elapsed());
    assert_eq!(first.check(), Ok(()));
    // Without a wait the store has 100 ms for its answer: on a busy machine it may say nothing, and that is told.
    match client.lease("name").acquire_within(Duration::ZERO).await {
        Ok(acquired) => assert!(acquired.is_none()),
        Err(Error::Store(error)) => assert_eq!(error.kind(), StoreErrorKind::Unavailable),
        Err(error) => panic!("{error}"),
    }
}

/// At each of its await points: polled so often, and dropped.
async fn a_dropped_acquisition_leaves_nothing_behind(place: Place) {
    let client = client(&place).await;
    for polls in 1..40 {
        let name = format!("name {polls}");
        let mut acquiring = Box::pin(client.lease(&name).ttl(SHORT).acquire_within(BOUND));
        let mut left = polls;
        let ended = std::future::poll_fn(|cx| {
            let polled = std::future::Future::poll(acquiring.as_mut(), cx);
            left -= 1;
            if polled.is_ready() || left == 0 {
                return std::task::Poll::Ready(polled.is_ready());
            }
            // Woken by whatever it waits for.
            std::task::Poll::Pending
        });
        let ended = ended.await;
        drop(acquiring);
        free_again(&client, &name).await;
        if ended {
            return;
        }
    }
    panic!("it never came to its end");
}

async fn what_can_be_no_lease_is_refused(place: Place) {
    let client = client(&place).await;
    let refused = [
        (client.lease(""), "empty"),
        (client.lease("a\0b"), "control character"),
        (client.lease("x".repeat(129)), "at most 128 bytes"),
        (client.lease("name").ttl(Duration::from_millis(10)), "500ms"),
    ];
    for (lease, part) in refused {
        let error = lease
            .try_acquire()
            .await
            .err()
            .map(|error| error.to_string());
        let error = error.unwrap_or_default();
        assert!(
            error.starts_with("the lease ") && error.contains(part),
            "{error}"
        );
    }
}
