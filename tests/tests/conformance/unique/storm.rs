//! Many enqueue the same few keys, while the jobs are run, end in every way and are run anew.

use std::collections::BTreeMap;
use std::slice::from_ref;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tasklock_runtime::JobState;
use tasklock_runtime::store::{Enqueued, JobQuery, Retried, Store};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::steps::{BOUND, LONG, claim, ends, enqueue, with_key};
use crate::world::World;

const KEYS: usize = 5;
const STORM: Duration = Duration::from_millis(1_500);

#[derive(Default)]
struct Storm {
    over: AtomicBool,
    /// The key of each job that somebody was told he had made.
    made: Mutex<BTreeMap<i64, String>>,
    told: Mutex<Vec<(i64, String)>>,
    ended: AtomicUsize,
}

/// At any instant at most one job of a key waits or runs, nobody is refused, and everybody is told of a job
/// that was made once.
pub(crate) async fn one_job_of_a_key_at_any_instant(world: &World) {
    let store = world.store().await;
    let storm = Arc::new(Storm::default());
    let mut running = JoinSet::new();
    for (nth, store) in world.stores(4).await.into_iter().enumerate() {
        running.spawn(enqueue_keys(Arc::clone(&storm), store, nth));
    }
    for (nth, store) in world.stores(2).await.into_iter().enumerate() {
        running.spawn(run_jobs(Arc::clone(&storm), store, nth));
    }
    running.spawn(retry_ended(Arc::clone(&storm), world.store().await));
    let began = Instant::now();
    let mut looks = 0;
    // As long as it takes on a machine that has other things to do.
    while began.elapsed() < STORM || looks < 10 || !storm.has_raged() {
        assert!(began.elapsed() < BOUND, "{:?}", storm.counts());
        let query = JobQuery {
            task: Some("task".to_owned()),
            states: vec![JobState::Ready, JobState::Running],
            before: i64::MAX,
            limit: 1_000,
        };
        let found = store.jobs(&query).await.unwrap();
        let mut keys: Vec<_> = found.iter().map(|job| &job.unique_key).collect();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), found.len(), "a key twice: {found:?}");
        assert!(keys.len() <= KEYS);
        looks += 1;
        if let Some(Err(panicked)) = running.try_join_next() {
            panic!("{panicked}");
        }
    }
    storm.over.store(true, Ordering::Relaxed);
    while let Some(ended) = running.join_next().await {
        ended.unwrap();
    }
    let made = storm.made.lock().unwrap();
    let told = storm.told.lock().unwrap();
    for (id, key) in &*told {
        assert_eq!(made.get(id), Some(key), "told of a job that nobody made");
    }
}

impl Storm {
    fn counts(&self) -> (usize, usize, usize) {
        let made = self.made.lock().unwrap().len();
        let told = self.told.lock().unwrap().len();
        (made, told, self.ended.load(Ordering::Relaxed))
    }

    fn has_raged(&self) -> bool {
        let (made, told, ended) = self.counts();
        made > KEYS && told > KEYS && ended > KEYS
    }
}

async fn enqueue_keys(storm: Arc<Storm>, store: Arc<dyn Store>, nth: usize) {
    for round in nth.. {
        if storm.over.load(Ordering::Relaxed) {
            return;
        }
        let key = |nth: usize| (nth % KEYS).to_string();
        let mut keys = vec![key(round)];
        if round % 3 == 0 {
            // Several at once, in any order.
            keys.extend([key(round + 1), key(round + 3), key(round)]);
        }
        let jobs: Vec<_> = keys.iter().map(|key| with_key("task", key)).collect();
        let enqueued = store.enqueue(&jobs).await.unwrap();
        for (enqueued, key) in enqueued.into_iter().zip(keys) {
            match enqueued {
                Enqueued::New(id) => {
                    assert_eq!(storm.made.lock().unwrap().insert(id, key), None);
                }
                other => storm.told.lock().unwrap().push((other.id(), key)),
            }
        }
        tokio::task::yield_now().await;
    }
}

async fn run_jobs(storm: Arc<Storm>, store: Arc<dyn Store>, mut nth: usize) {
    while !storm.over.load(Ordering::Relaxed) {
        for claim in claim(&*store, &["task"], LONG, 3).await.claims {
            nth += 1;
            let ends = ends(&claim.key);
            let end = ends[nth % ends.len()].clone();
            // A row that somebody looks at is skipped, and tried again.
            let write =
                async { while store.finish(from_ref(&end)).await.unwrap() != [claim.key.job] {} };
            timeout(BOUND, write).await.expect("it is written");
            storm.ended.fetch_add(1, Ordering::Relaxed);
        }
        tokio::task::yield_now().await;
    }
}

/// Some of the ended ones, and whatever waits for long: then its key is free again.
async fn retry_ended(storm: Arc<Storm>, store: Arc<dyn Store>) {
    enqueue(&*store, with_key("other", "0")).await;
    while !storm.over.load(Ordering::Relaxed) {
        let ids: Vec<i64> = storm
            .made
            .lock()
            .unwrap()
            .keys()
            .rev()
            .take(20)
            .copied()
            .collect();
        for id in ids {
            let retried = store.retry(id).await.unwrap();
            assert!(!matches!(retried, Some(Retried::KeyTaken(other)) if other == id));
        }
        tokio::task::yield_now().await;
    }
}
