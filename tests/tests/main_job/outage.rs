//! The database goes away and comes back: a short outage costs nothing, a long one the lease, and no
//! worker needs help to go on.

use std::time::Duration;

use tasklock_test_support::postgres::{Server, Stop};
use tasklock_test_support::process::{Event, Worker, boottime};
use tasklock_test_support::wait::eventually_async;

use crate::support::{
    BOUND, Link, Place, alone, cpu, next_start, number, print, ready, start_of, worker,
};

/// How long it stays away at least; the servers' own stop and start come on top.
const AWAY: Duration = Duration::from_secs(3);
/// What the task `steady` survives: its ttl of 20 s, less the margin, a heartbeat of 1 s, and one call.
const SURVIVED: Duration = Duration::from_millis(12_500);
/// At most this share of one processor, in a debug build.
const MOST_CPU: f64 = 0.15;

/// A database that can go away for everybody.
enum Failing {
    Server(Server),
    Locked(Link),
}

impl Failing {
    async fn leave(&mut self) {
        match self {
            Self::Server(server) => server.stop(Stop::Immediate).await,
            Self::Locked(link) => link.cut().await,
        }
    }

    async fn come_back(&mut self) {
        match self {
            Self::Server(server) => server.start_again().await,
            Self::Locked(link) => link.mend().await,
        }
    }
}

#[tokio::test]
async fn short_on_sqlite() {
    let _turn = alone().await;
    let place = Place::sqlite();
    let failing = Failing::Locked(Link::to(&place).await);
    nothing_is_lost(&place, failing).await;
}

#[tokio::test]
async fn short_on_postgres() {
    let _turn = alone().await;
    if let Some(server) = Server::start().await {
        let place = Place::Postgres(server.database().await);
        nothing_is_lost(&place, Failing::Server(server)).await;
    }
}

#[tokio::test]
async fn long_on_sqlite() {
    let _turn = alone().await;
    let place = Place::sqlite();
    let failing = Failing::Locked(Link::to(&place).await);
    the_worker_goes_on_by_itself(&place, failing).await;
}

#[tokio::test]
async fn long_on_postgres() {
    let _turn = alone().await;
    if let Some(server) = Server::start().await {
        let place = Place::Postgres(server.database().await);
        the_worker_goes_on_by_itself(&place, Failing::Server(server)).await;
    }
}

async fn nothing_is_lost(place: &Place, mut failing: Failing) {
    let holder = worker(&place.url(), "steady", &[]);
    let start = start_of(&holder);
    let other = worker(&place.url(), "steady", &[]);
    ready(&other);
    let from = boottime();
    failing.leave().await;
    let used = away([&holder, &other]).await;
    failing.come_back().await;
    let away = boottime() - from;
    assert!(away < SURVIVED, "too slow a machine: away for {away:?}");
    // Renewed again: an expiry that only a renewal after the return can have brought.
    let row = eventually_async(BOUND, async || {
        let row = place.row("steady").await;
        (row.left.0 > 19_000_000).then_some(row)
    })
    .await;
    assert_eq!(row.fence, number(&start, "fence"));
    assert!(other.events().is_empty(), "{}", other.report());
    assert_eq!(holder.events().len(), 1, "{}", holder.report());
    for worker in [&holder, &other] {
        worker.term();
        assert!(worker.wait_exit(BOUND).success(), "{}", worker.report());
    }
    let row = place.row("steady").await;
    assert_eq!(row.fence, number(&start, "fence"));
    assert_eq!(row.outcome.as_deref(), Some("succeeded"));
    print(&format!(
        "{}: away for {away:.1?} of {SURVIVED:?}: nothing lost, no second run; processor time of \
         holder and idle worker meanwhile {used:?}",
        place.kind()
    ));
}

async fn the_worker_goes_on_by_itself(place: &Place, mut failing: Failing) {
    let worker = worker(&place.url(), "hold", &[]);
    let start = start_of(&worker);
    failing.leave().await;
    let end: Event = worker.wait_for(BOUND, |event| event.is("end"));
    assert_eq!(end.str("lost"), Some("store_unreachable"), "{}", end.line);
    let used = away([&worker]).await;
    let back = boottime();
    failing.come_back().await;
    let next = next_start(&[&worker], &start);
    let took = next.boottime().expect("it tells").saturating_sub(back);
    print(&format!(
        "{}: after a long outage the worker started the task again {took:.1?} after the return \
         began; processor time while it was away {used:?}",
        place.kind()
    ));
}

/// Waits while nothing is to be heard, and sees that nobody spins; answers what each has used.
async fn away<const N: usize>(workers: [&Worker; N]) -> [Duration; N] {
    let before = workers.map(cpu);
    tokio::time::sleep(AWAY).await;
    let mut used = workers.map(cpu);
    for ((used, before), worker) in used.iter_mut().zip(before).zip(workers) {
        *used -= before;
        let share = used.as_secs_f64() / AWAY.as_secs_f64();
        assert!(share <= MOST_CPU, "{used:?}: {}", worker.report());
    }
    used
}
