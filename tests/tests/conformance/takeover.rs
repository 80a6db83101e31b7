//! Whose lease has expired loses it, and nobody else.

use std::time::{Duration, Instant};

use tasklock_runtime::Next;
use tasklock_test_support::wait::eventually_async;

use crate::steps::{
    BOUND, LONG, SHORT, claim, claim_all, claim_one, declare_due, declare_many, end, expired, held,
    jobs, renewal, renewals, renewer, request, row, standing, taken_over,
};
use crate::world::World;

pub(crate) async fn only_after_expiry(world: &World) {
    let (one, two) = (world.store().await, world.store().await);
    declare_due(&*one, &["task"]).await;
    let sent = Instant::now();
    let first = claim_one(&*one, "task", SHORT).await;
    let second = taken_over(&*two, "task", LONG).await;
    let taken = sent.elapsed();
    assert!(taken >= SHORT, "taken after {taken:?} of {SHORT:?}");
    assert_eq!(
        (second.key.job, second.due_at),
        (first.key.job, first.due_at)
    );
    assert_ne!(second.key.owner, first.key.owner);
    assert!(row(&*one, first.key.job).await.is_held_under(&second.key));
}

pub(crate) async fn only_after_a_renewed_lease_has_expired(world: &World) {
    let (one, two) = (world.store().await, world.store().await);
    let held = held(&*one, "task", SHORT).await;
    let mut renewer = renewer(&*one).await;
    // Renewed at the last moment or later: in any case the whole ttl is granted again.
    expired(&*one, held.key.job).await;
    let sent = Instant::now();
    let renewed = renewer.renew(&[renewal(&held.key, SHORT)]).await.unwrap();
    assert_eq!(renewed, [held.key.job]);
    taken_over(&*two, "task", LONG).await;
    let taken = sent.elapsed();
    assert!(taken >= SHORT, "taken after {taken:?} of {SHORT:?}");
}

pub(crate) async fn never_while_renewals_hold(world: &World) {
    let (one, two) = (world.store().await, world.store().await);
    let held = held(&*one, "task", SHORT).await;
    let mut renewer = renewer(&*one).await;
    renewer.renew(&[renewal(&held.key, LONG)]).await.unwrap();
    // Until long after the claim's own expiry.
    let end = one.now().await.unwrap() + 2 * i64::try_from(SHORT.as_micros()).unwrap();
    let look = async || {
        let batch = claim(&*two, &["task"], LONG, 1).await;
        assert_eq!(batch.claims, []);
        (batch.now > end).then_some(())
    };
    eventually_async(BOUND, look).await;
    assert!(row(&*one, held.key.job).await.is_held_under(&held.key));
}

pub(crate) async fn live_runs_do_not_hide_an_expired_one(world: &World) {
    let store = world.store().await;
    let tasks = declare_many(&*store, 40).await;
    // The live ones were claimed first, and expired first but for their renewals.
    let live = claim_all(&*store, &tasks[1..], SHORT).await;
    let mut renewer = renewer(&*store).await;
    renewer.renew(&renewals(&live, LONG)).await.unwrap();
    let crashed = claim_one(&*store, &tasks[0], SHORT).await;
    let look = async || claim(&*store, &tasks, LONG, 1).await.claims.pop();
    let taken = eventually_async(BOUND, look).await;
    assert_eq!(taken.key.job, crashed.key.job);
    assert!(claim(&*store, &tasks, LONG, 40).await.claims.is_empty());
}

/// A backlog that fills each claim must not put off the takeovers to its end.
pub(crate) async fn expired_rows_come_first_and_the_limit_counts_both(world: &World) {
    let store = world.store().await;
    let tasks = declare_many(&*store, 7).await;
    let crashed = claim_all(&*store, &tasks[..4], SHORT).await;
    for claim in &crashed {
        expired(&*store, claim.key.job).await;
    }
    // A lease may outlive the moment when nothing is left of it by the clock's least step.
    let look = async || claim(&*store, &tasks[..4], LONG, 1).await.claims.pop();
    let first = eventually_async(BOUND, look).await;
    let mut claims = claim(&*store, &tasks, LONG, 4).await.claims;
    let due = claims.iter().filter(|claim| !claim.takeover).count();
    assert_eq!((claims.len(), due), (4, 1), "{claims:?}");
    claims.push(first);
    claims.retain(|claim| claim.takeover);
    assert_eq!(jobs(&claims), jobs(&crashed));
    let rest = claim(&*store, &tasks, LONG, 40).await.claims;
    assert!(
        rest.len() == 2 && rest.iter().all(|claim| !claim.takeover),
        "{rest:?}"
    );
}

/// Which of the runs that expired together has taken the others along, nobody knows.
pub(crate) async fn suspects_are_taken_over_a_few_at_a_time(world: &World) {
    let store = world.store().await;
    let tasks = declare_many(&*store, 4).await;
    claim_all(&*store, &tasks, SHORT).await;
    let take = async |suspects: usize, ttl: Duration| {
        let mut request = request(&tasks, ttl, 9);
        request.suspects = suspects;
        for wanted in &mut request.tasks {
            wanted.suspect_from = 1;
        }
        store.claim(&request).await.unwrap().claims
    };
    // The first crash makes no suspects.
    let mut all = Vec::new();
    let look = async || {
        all.extend(take(0, SHORT).await);
        (all.len() == 4).then_some(())
    };
    eventually_async(BOUND, look).await;
    for claim in &all {
        expired(&*store, claim.key.job).await;
    }
    let look = async || take(1, LONG).await.pop();
    eventually_async(BOUND, look).await;
    assert!(take(0, LONG).await.is_empty());
    let one = take(1, LONG).await;
    assert!(one.len() == 1 && one[0].crashes == 2, "{one:?}");
    assert_eq!(take(9, LONG).await.len(), 2);
}

pub(crate) async fn only_tasks_that_the_worker_has(world: &World) {
    let store = world.store().await;
    declare_due(&*store, &["known", "unknown"]).await;
    claim_all(&*store, &["known", "unknown"], SHORT).await;
    let unknown = standing(&*store, "unknown").await;
    expired(&*store, unknown.job).await;
    taken_over(&*store, "known", LONG).await;
    let after = standing(&*store, "unknown").await;
    assert_eq!((after.owner, after.fence), (unknown.owner, unknown.fence));
}

pub(crate) async fn crashes_and_attempts_are_counted(world: &World) {
    let store = world.store().await;
    let first = held(&*store, "task", SHORT).await;
    let job = first.key.job;
    let second = taken_over(&*store, "task", SHORT).await;
    let third = taken_over(&*store, "task", LONG).await;
    let attempts = [first.attempt, second.attempt, third.attempt];
    assert_eq!(attempts, [1, 2, 3]);
    let counted = row(&*store, job).await;
    assert_eq!((counted.attempt, counted.crashes), (3, 2));

    // The next slot begins anew.
    store.finish(&[end(&third.key, Next::at(5))]).await.unwrap();
    let waiting = row(&*store, job).await;
    assert_eq!((waiting.attempt, waiting.crashes), (0, 0));
    let fourth = claim_one(&*store, "task", LONG).await;
    assert_eq!((fourth.attempt, fourth.takeover), (1, false));
    assert_eq!(row(&*store, job).await.crashes, 0);
}
