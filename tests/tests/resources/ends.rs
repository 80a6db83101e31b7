//! A run that has ended gives its name back with its job.

use std::time::Duration;

use crate::support::{
    BOUND, Notes, Place, all_done, at, client, number, print, ready, start_of, stop, worker,
};

const JOBS: usize = 10;
/// Of a ttl of 30 s.
const SOON: Duration = Duration::from_secs(5);

on_both! {
    beside: completed_jobs_let_the_next_one_in,
    beside: a_worker_that_stops_gives_both_back,
}

async fn completed_jobs_let_the_next_one_in(place: Place) {
    let client = client(&place).await;
    Notes::install(&place).await;
    for _ in 0..JOBS {
        let job = client.enqueue("settles", &1).resource("invoice:1").await;
        job.expect("it is taken");
    }
    let fleet = [(); 2].map(|()| worker(&place, "settles", &[]));
    fleet.iter().for_each(ready);
    all_done(&place, "settles").await;
    let mut starts = Vec::new();
    let mut commits = Vec::new();
    for event in fleet.iter().flat_map(|worker| worker.events()) {
        let of = (number(&event, "resource_fence"), at(&event));
        match event.is("start") {
            true => starts.push(of),
            false => commits.push(of),
        }
    }
    starts.sort_unstable();
    commits.sort_unstable();
    assert_eq!((starts.len(), commits.len()), (JOBS, JOBS));
    let waits = commits.iter().zip(&starts[1..]);
    let waits: Vec<Duration> = waits
        .map(|((_, committed), (_, started))| *started - *committed)
        .collect();
    let most = waits.iter().max().copied().unwrap_or_default();
    assert!(most < SOON, "{waits:?}");
    print(
        &place,
        &format!(
            "{JOBS} jobs of one name on 2 workers, each completed in its own transaction: the next one started {most:.0?} after it at most"
        ),
    );
}

async fn a_worker_that_stops_gives_both_back(place: Place) {
    let client = client(&place).await;
    let job = client.enqueue("ignores", &1).resource("invoice:1").await;
    let job = job.expect("it is taken").id();
    let leaving = worker(&place, "ignores", &[("TASKLOCK_SHUTDOWN_GRACE", "300ms")]);
    let first = start_of(&leaving);
    let staying = worker(&place, "ignores", &[("TASKLOCK_SHUTDOWN_GRACE", "10ms")]);
    ready(&staying);
    leaving.term();
    let dropped = leaving.wait_for(BOUND, |event| event.is("dropped"));
    let next = start_of(&staying);
    assert_eq!(number(&next, "job"), job);
    assert_eq!((number(&next, "attempt"), number(&next, "fence")), (1, 2));
    assert!(number(&next, "resource_fence") > number(&first, "resource_fence"));
    let took = at(&next) - at(&dropped);
    assert!(took < SOON, "{took:?}");
    stop(&staying);
    // Nobody has the name now.
    let lease = client.lease("invoice:1").try_acquire().await;
    let held = lease.expect("the store answers").expect("it is free");
    assert!(held.fence() > number(&next, "resource_fence"));
    print(
        &place,
        &format!(
            "a worker that stopped gave job and name back: both were had elsewhere {took:.0?} after the drop"
        ),
    );
}
