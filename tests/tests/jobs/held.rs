//! `min_hold`: the next run starts no sooner than so long after the start of the one before, and not much
//! later.

use std::time::Duration;

use tasklock_test_support::wait::eventually_async;

use crate::support::{
    Audit, BOUND, Place, all_over, client, micros, print, ready, spread, stop, worker,
};

/// How much later it may be on a busy machine.
const SLACK: Duration = Duration::from_millis(400);

on_both! {
    alone: slots_keep_their_distance,
    alone: jobs_of_two_workers_keep_their_distance,
}

/// Every 200 ms, but for a hold of a second.
async fn slots_keep_their_distance(place: Place) {
    place.migrate().await;
    Audit::install(&place).await;
    let worker = worker(&place, "ticks", &[]);
    eventually_async(BOUND, async || {
        let starts = worker
            .events()
            .iter()
            .filter(|event| event.is("start"))
            .count();
        (starts >= 6).then_some(())
    })
    .await;
    stop(&worker);
    keeps_its_distance(&place, "ticks", Duration::from_secs(1)).await;
}

async fn jobs_of_two_workers_keep_their_distance(place: Place) {
    let client = client(&place).await;
    Audit::install(&place).await;
    let fleet = [(); 2].map(|()| worker(&place, "paced", &[]));
    for worker in &fleet {
        ready(worker);
    }
    let enqueued = client.enqueue_many("paced", 0..8).await;
    enqueued.expect("the database takes them");
    all_over(&place, "paced").await;
    keeps_its_distance(&place, "paced", Duration::from_millis(500)).await;
}

async fn keeps_its_distance(place: &Place, task: &str, hold: Duration) {
    let starts: Vec<i64> = Audit::of(place, task)
        .await
        .iter()
        .filter(|event| event.starts())
        .filter_map(|event| event.claimed)
        .collect();
    assert!(starts.len() >= 6, "{starts:?}");
    let mut distances: Vec<Duration> = Vec::new();
    for pair in starts.windows(2) {
        let distance = pair[1] - pair[0];
        let bounds = micros(hold)..=micros(hold + SLACK);
        assert!(bounds.contains(&distance), "{distance} µs: {starts:?}");
        distances.push(Duration::from_micros(distance.cast_unsigned()));
    }
    print(&format!(
        "{}: min_hold = {hold:?}: from start to start of {task}, {} times: {}",
        place.kind(),
        distances.len(),
        spread(&mut distances)
    ));
}
