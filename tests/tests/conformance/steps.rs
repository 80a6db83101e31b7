//! The steps that cases are made of.

mod queue;

use std::fmt::Debug;
use std::time::Duration;

use tasklock_runtime::store::{
    Claim, ClaimBatch, ClaimRequest, Declaration, Finish, JobRow, Passed, Renewal, Renewer, Store,
    Then, Wanted,
};
use tasklock_runtime::{LeaseKey, Next, OwnerToken};
use tasklock_test_support::wait::eventually_async;

pub(crate) use queue::{
    ends, enqueue, enqueue_due, finish, finished, job, limited, new, started, then, watch, with_key,
};

/// A lease that does not expire within a test.
pub(crate) const LONG: Duration = Duration::from_secs(60);
/// A lease whose expiry a test waits for.
pub(crate) const SHORT: Duration = Duration::from_millis(200);
/// The most that anything may take before a test fails.
pub(crate) const BOUND: Duration = Duration::from_secs(20);
/// What an answer may take that must not wait for somebody else.
pub(crate) const AT_ONCE: Duration = Duration::from_secs(2);
pub(crate) const SECOND: i64 = 1_000_000;
/// No jobs.
pub(crate) const NONE: [i64; 0] = [];

/// A task that is due at this instant.
pub(crate) fn task(name: &str, due: Option<i64>) -> Declaration {
    Declaration {
        if_changed: Next::Dormant,
        ..Declaration::new(name, "every 1m", next(due))
    }
}

/// A slot, or none.
pub(crate) fn next(slot: Option<i64>) -> Next {
    slot.map_or(Next::Dormant, Next::at)
}

/// Declares tasks that have been due for long, the first one for the longest.
pub(crate) async fn declare_due<T: AsRef<str>>(store: &dyn Store, tasks: &[T]) {
    let declarations: Vec<_> = (1..)
        .zip(tasks)
        .map(|(due, name)| task(name.as_ref(), Some(due)))
        .collect();
    store.declare(&declarations).await.unwrap();
}

/// `count` tasks that are due.
pub(crate) async fn declare_many(store: &dyn Store, count: usize) -> Vec<String> {
    let tasks: Vec<_> = (0..count).map(|number| format!("task {number}")).collect();
    declare_due(store, &tasks).await;
    tasks
}

pub(crate) fn request<T: AsRef<str>>(tasks: &[T], ttl: Duration, limit: usize) -> ClaimRequest {
    let tasks = tasks.iter().map(|task| Wanted::new(task.as_ref(), ttl));
    ClaimRequest {
        sweep: true,
        quick: false,
        tell: None,
        token: OwnerToken::fresh(),
        worker: "a worker".to_owned(),
        tasks: tasks.collect(),
        limit,
        suspects: limit,
    }
}

pub(crate) async fn claim<T: AsRef<str>>(
    store: &dyn Store,
    tasks: &[T],
    ttl: Duration,
    limit: usize,
) -> ClaimBatch {
    store.claim(&request(tasks, ttl, limit)).await.unwrap()
}

/// Claims all of these tasks, which are due.
pub(crate) async fn claim_all<T: AsRef<str>>(
    store: &dyn Store,
    tasks: &[T],
    ttl: Duration,
) -> Vec<Claim> {
    let claims = claim(store, tasks, ttl, tasks.len()).await.claims;
    assert_eq!(claims.len(), tasks.len(), "all tasks are due");
    claims
}

/// Claims a task, which is due.
pub(crate) async fn claim_one(store: &dyn Store, task: &str, ttl: Duration) -> Claim {
    claim_all(store, &[task], ttl).await.remove(0)
}

/// Declares a task and claims it.
pub(crate) async fn held(store: &dyn Store, task: &str, ttl: Duration) -> Claim {
    declare_due(store, &[task]).await;
    claim_one(store, task, ttl).await
}

/// Takes a task whose lease is about to expire.
pub(crate) async fn taken_over(store: &dyn Store, task: &str, ttl: Duration) -> Claim {
    let look = async || claim(store, &[task], ttl, 1).await.claims.pop();
    let taken = eventually_async(BOUND, look).await;
    assert!(taken.takeover, "{taken:?}");
    taken
}

/// Waits until a lease has expired by the store's clock.
pub(crate) async fn expired(store: &dyn Store, job: i64) {
    let look = async || (row(store, job).await.left == Some(Duration::ZERO)).then_some(());
    eventually_async(BOUND, look).await;
}

pub(crate) async fn row(store: &dyn Store, job: i64) -> JobRow {
    let mut rows = store.inspect(&[job]).await.unwrap();
    assert_eq!(rows.len(), 1, "the job {job} is there");
    rows.remove(0)
}

pub(crate) async fn standing(store: &dyn Store, task: &str) -> JobRow {
    let row = store.standing(task).await.unwrap();
    row.expect("the task was declared")
}

/// A heartbeat's connection.
pub(crate) async fn renewer(store: &dyn Store) -> Box<dyn Renewer> {
    let mut renewer = store.renewer();
    renewer.connect().await.unwrap();
    renewer
}

pub(crate) fn renewal(key: &LeaseKey, ttl: Duration) -> Renewal {
    Renewal {
        key: key.clone(),
        ttl,
        progress: None,
    }
}

pub(crate) fn renewals(claims: &[Claim], ttl: Duration) -> Vec<Renewal> {
    claims
        .iter()
        .map(|claim| renewal(&claim.key, ttl))
        .collect()
}

pub(crate) fn end(key: &LeaseKey, next: Next) -> Finish {
    Finish {
        resource: None,
        key: key.clone(),
        then: Then::Slot(next),
        outcome: "succeeded",
        error: None,
        hold: None,
        frees_place: false,
        passed: Passed::default(),
    }
}

/// Leases like this one that nobody holds.
pub(crate) fn forgeries(key: &LeaseKey) -> Vec<LeaseKey> {
    let owner = OwnerToken::fresh();
    let with = |job, fence, owner: &OwnerToken| LeaseKey {
        job,
        fence,
        owner: owner.clone(),
    };
    vec![
        with(key.job, key.fence, &owner),
        with(key.job, key.fence - 1, &key.owner),
        with(key.job, key.fence + 1, &key.owner),
        with(key.job + 1_000_000, key.fence, &key.owner),
    ]
}

pub(crate) fn jobs(claims: &[Claim]) -> Vec<i64> {
    sorted(claims.iter().map(|claim| claim.key.job).collect())
}

pub(crate) fn sorted<T: Ord>(mut items: Vec<T>) -> Vec<T> {
    items.sort();
    items
}

/// What is left of a span that began at most [`BOUND`] ago.
#[track_caller]
pub(crate) fn assert_about(found: Option<Duration>, span: Duration) {
    let found = found.unwrap_or_else(|| panic!("nothing, not about {span:?}"));
    assert!(
        found <= span && found + BOUND >= span,
        "{found:?}, not about {span:?}"
    );
}

/// An answer that must not wait for somebody else.
pub(crate) async fn at_once<T: Debug>(answer: impl Future<Output = T>) -> T {
    let answered = tokio::time::timeout(AT_ONCE, answer).await;
    answered.expect("the answer does not wait for a lock")
}
