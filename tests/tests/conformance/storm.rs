//! Renewals that are sent just when their leases expire, while others take whatever has expired.
//!
//! What goes wrong here goes wrong within one statement: a takeover that reads the renewals in a
//! snapshot older than its lock takes leases that were renewed in between. Such a store passes every
//! other case. The oracle knows nothing of the store's clock: a holder may count on its lease until a
//! ttl after it *sent* what was confirmed, so nobody's claim may be *answered* before that.

mod oracle;

use std::cmp::Reverse;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tasklock_runtime::store::{Renewer, Store};
use tasklock_runtime::{LeaseKey, StoreErrorKind};
use tasklock_test_support::wait::eventually_async;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::steps::{BOUND, claim, declare_many, renewal, renewer};
use crate::world::World;
use oracle::{Event, Kind, violations};

const LEASES: usize = 200;
const TTL: Duration = Duration::from_millis(100);
/// What each taker takes at most: in step with each other, they would meet no lease half-way.
const TAKERS: [usize; 3] = [5, 17, 43];
const HOLDERS: usize = 2;
/// At least so long, and so many renewals and takeovers.
const STORM: Duration = Duration::from_secs(2);
const ENOUGH: usize = 200;
/// How much later the next renewals are sent for each that was in time, and sooner for each that was not.
const STEP_MICROS: i64 = 50;

#[derive(Default)]
struct Storm {
    log: Mutex<Vec<Event>>,
    over: AtomicBool,
}

/// A lease that its holder is about to renew: claimed, or renewed, by the call between these two.
struct Held {
    key: LeaseKey,
    sent: Instant,
    replied: Instant,
}

pub(crate) async fn no_live_lease_is_taken(world: &World) {
    let first = world.store().await;
    let tasks = declare_many(&*first, LEASES).await;
    let storm = Arc::new(Storm::default());
    let mut running = JoinSet::new();
    let mut holders = Vec::new();
    for _ in 0..HOLDERS {
        let (sender, held) = mpsc::unbounded_channel();
        let renewer = renewer(&*world.store().await).await;
        running.spawn(hold(Arc::clone(&storm), renewer, held, world.locks_rows()));
        holders.push(sender);
    }
    for (store, limit) in world.stores(TAKERS.len()).await.into_iter().zip(TAKERS) {
        let (storm, tasks, holders) = (Arc::clone(&storm), tasks.clone(), holders.clone());
        running.spawn(take(storm, store, tasks, limit, holders));
    }
    drop(holders);

    let began = Instant::now();
    let look = async || {
        let (claims, renewals) = storm.counts();
        let enough = claims >= LEASES + ENOUGH && renewals >= ENOUGH;
        (enough && began.elapsed() >= STORM).then_some(())
    };
    // If somebody panics, that is the news, and not that nothing happens any more.
    tokio::select! {
        () = eventually_async(BOUND, look) => {}
        Some(Err(panicked)) = running.join_next() => panic!("{panicked}"),
    }
    storm.over.store(true, Ordering::Relaxed);
    while let Some(ended) = running.join_next().await {
        ended.unwrap();
    }

    let log = storm.log.lock().unwrap();
    let found = violations(&log, TTL, world.fences_count());
    let (all, few) = (found.len(), &found[..found.len().min(5)]);
    assert!(found.is_empty(), "{all} in {} events: {few:#?}", log.len());
}

impl Storm {
    fn record(&self, kind: Kind, key: &LeaseKey, sent: Instant, replied: Instant) {
        let event = Event {
            kind,
            job: key.job,
            fence: key.fence,
            sent,
            replied,
        };
        self.log.lock().unwrap().push(event);
    }

    fn counts(&self) -> (usize, usize) {
        let log = self.log.lock().unwrap();
        let claims = log.iter().filter(|event| event.kind == Kind::Claimed);
        let claims = claims.count();
        (claims, log.len() - claims)
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}

/// Takes what it can get, and hands it to the holders.
async fn take(
    storm: Arc<Storm>,
    store: Arc<dyn Store>,
    tasks: Vec<String>,
    limit: usize,
    holders: Vec<mpsc::UnboundedSender<Held>>,
) {
    for holder in holders.iter().cycle() {
        if storm.is_over() {
            return;
        }
        let sent = Instant::now();
        let batch = claim(&*store, &tasks, TTL, limit).await;
        let replied = Instant::now();
        for claim in batch.claims {
            storm.record(Kind::Claimed, &claim.key, sent, replied);
            let key = claim.key;
            // A holder that has ended has panicked, and says so.
            let _ = holder.send(Held { key, sent, replied });
        }
        tokio::task::yield_now().await;
    }
}

/// Renews each lease when it expires, as long as that is confirmed.
async fn hold(
    storm: Arc<Storm>,
    mut renewer: Box<dyn Renewer>,
    mut taken: mpsc::UnboundedReceiver<Held>,
    locks_rows: bool,
) {
    let mut held: Vec<Held> = Vec::new();
    // When a lease really began is the store's to know. That half of the renewals are in time, and
    // half are not, is found by trial: by a guess alone, one side may win always.
    let mut late = 0;
    while !storm.is_over() {
        while let Ok(lease) = taken.try_recv() {
            held.push(lease);
        }
        let now = Instant::now();
        let (mut due, later): (Vec<_>, Vec<_>) = held
            .into_iter()
            .partition(|lease| lease.expiry(late) <= now);
        held = later;
        if due.is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
            continue;
        }
        // An answer names jobs: of two leases of one job, the later one alone can be meant.
        due.sort_by_key(|lease| (lease.key.job, Reverse(lease.key.fence)));
        due.dedup_by_key(|lease| lease.key.job);
        let batch: Vec<_> = due.iter().map(|lease| renewal(&lease.key, TTL)).collect();
        let sent = Instant::now();
        let confirmed = match renewer.renew(&batch).await {
            Ok(confirmed) => confirmed,
            // One file, one writer: nothing was renewed, and all of it will be taken over.
            Err(error) if !locks_rows && error.kind() == StoreErrorKind::Busy => Vec::new(),
            Err(error) => panic!("a row's lock fails the renewal of a whole batch: {error}"),
        };
        let replied = Instant::now();
        for Held { key, .. } in due {
            if confirmed.contains(&key.job) {
                late += STEP_MICROS;
                storm.record(Kind::Renewed, &key, sent, replied);
                held.push(Held { key, sent, replied });
            } else {
                late -= STEP_MICROS;
            }
        }
    }
}

impl Held {
    /// When it expires, for all that a client knows, and so many microseconds later; each lease a little
    /// sooner or later than others, so that those who were claimed together do not stay together.
    fn expiry(&self, late: i64) -> Instant {
        let spread = Duration::from_micros(self.key.job.unsigned_abs() % 8 * 300);
        let began = self.sent + (self.replied - self.sent) / 2;
        let half = i64::try_from(TTL.as_micros() / 2).unwrap();
        let late = Duration::from_micros((half + late.clamp(-half, half)).unsigned_abs());
        began + TTL / 2 + late + spread
    }
}
