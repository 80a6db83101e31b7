//! Steps with jobs that are enqueued, and end.

use std::sync::Arc;
use std::time::Duration;

use tasklock_runtime::store::{
    Claim, ClaimRequest, Counts, Due, Enqueued, Finish, Job, NewJob, Options, Passed, Steer, Store,
    Then, Wake,
};
use tasklock_runtime::{LeaseKey, OwnerToken};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{BOUND, LONG, claim_one, request};
use crate::world::World;

/// A job that is due at once.
pub(crate) fn new(task: &str) -> NewJob {
    NewJob {
        resource: None,
        task: task.to_owned(),
        payload: None,
        due: Due::In(Duration::ZERO),
        priority: 0,
        unique_key: None,
    }
}

pub(crate) fn with_key(task: &str, key: impl Into<String>) -> NewJob {
    NewJob {
        unique_key: Some(key.into()),
        ..new(task)
    }
}

/// Enqueues one job.
pub(crate) async fn enqueue(store: &dyn Store, job: NewJob) -> Enqueued {
    let mut enqueued = store.enqueue(&[job]).await.unwrap();
    assert_eq!(enqueued.len(), 1);
    enqueued.remove(0)
}

/// Enqueues so many jobs that have been due for long, the first one for the longest; answers their ids.
pub(crate) async fn enqueue_due(store: &dyn Store, task: &str, count: i64) -> Vec<i64> {
    let jobs: Vec<_> = (1..=count)
        .map(|at| NewJob {
            due: Due::At(at),
            ..new(task)
        })
        .collect();
    let enqueued = store.enqueue(&jobs).await.unwrap();
    assert!(enqueued.iter().all(|enqueued| enqueued.is_new()));
    enqueued.into_iter().map(Enqueued::id).collect()
}

/// Enqueues a job and claims it, of a task that has no other.
pub(crate) async fn started(store: &dyn Store, task: &str, ttl: Duration) -> Claim {
    let ids = enqueue_due(store, task, 1).await;
    let claim = claim_one(store, task, ttl).await;
    assert_eq!([claim.key.job], ids[..]);
    claim
}

/// The job, which is there.
pub(crate) async fn job(store: &(impl Steer + ?Sized), id: i64) -> Job {
    let job = store.job(id).await.unwrap();
    job.unwrap_or_else(|| panic!("there is no job {id}"))
}

/// An end.
pub(crate) fn then(key: &LeaseKey, then: Then) -> Finish {
    Finish {
        resource: None,
        key: key.clone(),
        then,
        outcome: "ended",
        error: Some("why".to_owned()),
        hold: None,
        frees_place: false,
        passed: Passed::default(),
    }
}

/// Every kind of end of a job that was enqueued, two that keep nothing among them.
pub(crate) fn ends(key: &LeaseKey) -> Vec<Finish> {
    let held = Finish {
        hold: Some(2 * LONG),
        ..then(key, Then::Done(None))
    };
    let mut ends = vec![held];
    ends.extend(
        [
            Then::Again(Duration::ZERO, Counts::Attempt),
            Then::Again(LONG, Counts::Nothing),
            Then::Again(LONG, Counts::Refusal),
            Then::Done(None),
            Then::Done(Some(LONG)),
            Then::Dead(LONG),
            Then::Cancelled(LONG),
        ]
        .map(|end| then(key, end)),
    );
    ends
}

/// Ends a run, which is held.
pub(crate) async fn finish(store: &dyn Store, end: Finish) {
    let job = end.key.job;
    assert_eq!(store.finish(&[end]).await.unwrap(), [job]);
}

/// Ends a run, which is held, and answers the job.
pub(crate) async fn finished(store: &dyn Store, key: &LeaseKey, end: Then) -> Job {
    finish(store, then(key, end)).await;
    job(store, key.job).await
}

/// A look for a task of which so many may run at once.
pub(crate) fn limited(task: &str, ttl: Duration, most: u32, limit: usize) -> ClaimRequest {
    let mut request = request(&[task], ttl, limit);
    request.token = OwnerToken::fresh();
    request.tasks[0].most = Some(most);
    request
}

/// A watcher, and the announcements that it has heard and nobody has asked for yet.
pub(crate) struct Watch {
    watching: JoinHandle<()>,
    wakes: mpsc::UnboundedReceiver<Wake>,
}

/// Two stores whose announcements nobody else hears, and a watcher of the second's; `None` where nothing is announced to other
/// processes.
pub(crate) async fn watch(world: &World, prefix: &str) -> Option<([Arc<dyn Store>; 2], Watch)> {
    if !world.announces() {
        return None;
    }
    let options = Options {
        table_prefix: Some(prefix.to_owned()),
        ..Options::default()
    };
    let one = world.connect(&options).await.unwrap();
    let two = world.connect(&options).await.unwrap();
    for store in [&one, &two] {
        store.migrate().await.unwrap();
    }
    let (sender, wakes) = mpsc::unbounded_channel();
    let watching = tokio::spawn(two.watch(Box::new(move |wake| {
        let _ = sender.send(wake);
    })));
    let mut watch = Watch { watching, wakes };
    assert_eq!(watch.next().await, Wake::Live);
    Some(([one, two], watch))
}

impl Watch {
    pub(crate) async fn next(&mut self) -> Wake {
        let next = timeout(BOUND, self.wakes.recv()).await;
        next.expect("it wakes").expect("it watches for ever")
    }

    /// Whether nothing was heard since the last time.
    pub(crate) fn is_quiet(&mut self) -> bool {
        self.wakes.is_empty()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.watching.abort();
    }
}
