//! `concurrency = 3`: across four workers of eight slots each there are three runs at once, never more,
//! and seldom fewer while jobs wait.

use std::collections::BTreeSet;

use tasklock_test_support::process::Worker;

use crate::support::{Audit, Place, What, all_over, client, print, ready, until_at_least, worker};

const JOBS: i64 = 300;
const MOST: usize = 3;
const TASK: &str = "narrow";

on_both! { alone: no_more_than_three_run_at_once }

async fn no_more_than_three_run_at_once(place: Place) {
    let client = client(&place).await;
    Audit::install(&place).await;
    let mut fleet: Vec<(String, Worker)> = (0..4).map(|name| start(&place, name)).collect();
    for (_, worker) in &fleet {
        ready(worker);
    }
    let enqueued = client.enqueue_many(TASK, 0..JOBS).await;
    enqueued.expect("the database takes them");
    let done = "SELECT count(*) FROM tasklock_job WHERE state = 'done'";
    until_at_least(&place, JOBS / 2, done).await;
    let dead = kill_a_holder(&place, &mut fleet).await;
    all_over(&place, TASK).await;

    let events = Audit::of(&place, TASK).await;
    let taken_over = events
        .iter()
        .position(|event| event.what == What::Takeover)
        .expect("the killed worker held a place");
    let mut running = BTreeSet::new();
    let mut reached = [0, 0];
    // Microseconds at each number of runs, before the kill.
    let mut spent = [0_i64; MOST + 1];
    let mut last: Option<i64> = None;
    let killed = events[taken_over].claimed.expect("it was claimed") - 2_000_000;
    for (nth, event) in events.iter().enumerate() {
        match event.what {
            What::Claim => assert!(running.insert(event.job), "{event:?}"),
            What::Takeover => assert!(running.contains(&event.job), "{event:?}"),
            What::End => assert!(running.remove(&event.job), "{event:?}"),
            What::New | What::Steer => continue,
        }
        assert!(running.len() <= MOST, "{event:?}: {running:?} run at once");
        let half = usize::from(nth > taken_over);
        reached[half] = reached[half].max(running.len());
        let at = match event.what {
            What::End => event.ended,
            _ => event.claimed,
        };
        let at = at.expect("it tells when");
        if nth < taken_over && at < killed {
            if let Some((last, before)) = last.zip(before(event.what, running.len())) {
                spent[before] += (at - last).max(0);
            }
            last = Some(at);
        }
    }
    assert_eq!(reached, [MOST, MOST], "before and after the takeover");
    let total: i64 = spent.iter().sum();
    let weighted: i64 = (0..).zip(spent).map(|(runs, micros)| runs * micros).sum();
    let occupancy = weighted as f64 / total as f64;
    assert!(
        occupancy > 1.5,
        "of 3 places {occupancy:.2} were taken: {spent:?}"
    );
    print(&format!(
        "{}: concurrency = 3, 4 workers of 8 slots, {JOBS} jobs of 30 ms: never more than 3, on average \
         {occupancy:.2} before one was killed ({dead})",
        place.kind()
    ));
}

/// How many ran before this.
fn before(what: What, running: usize) -> Option<usize> {
    match what {
        What::Claim => running.checked_sub(1),
        What::End => Some(running + 1),
        _ => Some(running),
    }
}

fn start(place: &Place, name: usize) -> (String, Worker) {
    let name = format!("worker {name}");
    let more = [
        ("TASKLOCK_CONCURRENCY", "8"),
        ("TASKLOCK_WORKER_NAME", &*name),
    ];
    let started = worker(place, TASK, &more);
    (name, started)
}

/// Stops workers until one of them has a place, and kills that.
async fn kill_a_holder(place: &Place, fleet: &mut Vec<(String, Worker)>) -> String {
    let mut database = place.connect().await;
    let holder = "SELECT lock_worker FROM tasklock_job WHERE state = 'running'";
    for nth in (0..fleet.len()).cycle() {
        let (name, worker) = &fleet[nth];
        worker.stop();
        let rows = database.run(holder).await.expect("the tables are there");
        if rows.iter().any(|row| row[0].as_ref() == Some(name)) {
            worker.kill();
            return fleet.remove(nth).0;
        }
        worker.cont();
    }
    unreachable!("the cycle has no end")
}
