//! Jobs that fail: again and again with backoff, or once and for all; nothing spins.

use std::time::Duration;

use tasklock_runtime::JobState;
use tasklock_test_support::process::boottime;
use tasklock_test_support::stats::settled_transactions;

use crate::support::{
    Audit, BOUND, Place, What, all_over, client, connected, cpu, micros, print, ready, stop, worker,
};

const ATTEMPTS: usize = 5;
const LEAST: Duration = Duration::from_millis(200);
const MOST: Duration = Duration::from_secs(2);
/// What two readings of one clock may differ in a statement.
const BLUR: i64 = 1_000;
/// Idling is what is measured.
const IDLE: Duration = Duration::from_secs(2);

on_both! {
    alone: each_error_is_followed_by_a_delay_that_grows_and_is_spread,
    alone: ten_thousand_that_fail_are_dead_and_nothing_spins,
}

async fn each_error_is_followed_by_a_delay_that_grows_and_is_spread(place: Place) {
    const JOBS: usize = 500;
    let client = client(&place).await;
    Audit::install(&place).await;
    let jobs = client.enqueue_many("fails", 0..JOBS as i64).await;
    let jobs = jobs.expect("the database takes them");
    let worker = worker(&place, "fails", &[]);
    all_over(&place, "fails").await;
    stop(&worker);

    let events = Audit::of(&place, "fails").await;
    let mut delays: [Vec<i64>; ATTEMPTS - 1] = Default::default();
    for job in jobs {
        let own = |event: &&Audit| event.job == job.id() && event.what != What::New;
        let own: Vec<&Audit> = events.iter().filter(own).collect();
        assert_eq!(own.len(), 2 * ATTEMPTS, "{own:#?}");
        for (nth, pair) in own.chunks(2).enumerate() {
            let [claim, end] = pair else {
                unreachable!("pairs")
            };
            assert_eq!([claim.what, end.what], [What::Claim, What::End], "{own:#?}");
            assert_eq!(
                [claim.attempt, end.attempt],
                [nth as i64 + 1; 2],
                "{own:#?}"
            );
            let Some(next) = own.get(2 * nth + 2) else {
                assert_eq!(end.state, "dead", "{own:#?}");
                continue;
            };
            let ended = end.ended.expect("it has ended");
            let due = end.due.expect("it is due again");
            let delay = due - ended;
            let bounds = micros(LEAST) - BLUR..=micros(MOST) + BLUR;
            assert!(bounds.contains(&delay), "{delay} µs: {own:#?}");
            let claimed = next.claimed.expect("it was claimed");
            assert!(claimed >= due, "{own:#?}");
            delays[nth].push(delay);
        }
        let job = client.job(job.id()).await.ok().flatten();
        let job = job.expect("it is kept");
        assert_eq!((job.state, job.attempt), (JobState::Dead, 5));
        let error = job.last_error.as_deref();
        assert_eq!(error, Some("sending: the mailbox: is full"));
    }
    for (nth, delays) in delays.iter().enumerate() {
        let histogram = histogram(nth, delays);
        print(&format!(
            "{}: delays after attempt {}, {} of them, in 8 parts of their range: {histogram:?}",
            place.kind(),
            nth + 1,
            delays.len()
        ));
        let most = histogram.iter().max().expect("there are eight");
        if nth == 0 {
            assert!(most * 10 <= delays.len() * 4, "{histogram:?}");
        }
    }
}

/// The delay after the nth error lies between half and all of twice, four times… the least.
fn histogram(nth: usize, delays: &[i64]) -> [usize; 8] {
    let longest = (micros(LEAST) << (nth + 1)).min(micros(MOST));
    let shortest = longest / 2;
    let mut buckets = [0; 8];
    for delay in delays {
        let part = (delay - shortest) * 8 / (longest - shortest);
        assert!(
            (shortest - BLUR..=longest + BLUR).contains(delay),
            "{delay} µs after attempt {}",
            nth + 1
        );
        buckets[usize::try_from(part.clamp(0, 7)).expect("it is in range")] += 1;
    }
    buckets
}

async fn ten_thousand_that_fail_are_dead_and_nothing_spins(place: Place) {
    const JOBS: i64 = 10_000;
    let client = client(&place).await;
    let enqueued = client.enqueue_many("hopeless", 0..JOBS).await;
    let mut enqueued: Vec<i64> = enqueued
        .expect("the database takes them")
        .into_iter()
        .map(|job| job.id())
        .collect();
    drop(client);
    let before = transactions(&place).await;
    let from = boottime();
    let worker = worker(&place, "hopeless", &[]);
    ready(&worker);
    all_over(&place, "hopeless").await;
    let took = boottime() - from;
    let used = cpu(&worker);
    tokio::time::sleep(IDLE).await;
    let idle = cpu(&worker) - used;
    assert!(idle < IDLE / 10, "{idle:?} of processor time in {IDLE:?}");
    stop(&worker);
    let transactions = before.zip(transactions(&place).await);
    let transactions = transactions.map(|(before, after)| after - before);
    assert!(
        transactions.is_none_or(|all| all < JOBS),
        "{transactions:?}"
    );

    // Page by page, the newest first.
    let client = connected(&place).await;
    let mut listed: Vec<i64> = Vec::new();
    loop {
        let page = client.jobs().task("hopeless").state(JobState::Dead);
        let page = page
            .limit(1_000)
            .before(listed.last().copied().unwrap_or(i64::MAX));
        let page = page.await.expect("the database answers");
        if page.is_empty() {
            break;
        }
        for job in &page {
            assert_eq!((job.attempt, job.crashes), (1, 0), "{job:?}");
            let error = job.last_error.as_deref();
            assert_eq!(error, Some("sending: the mailbox: is full"));
        }
        listed.extend(page.iter().map(|job| job.id));
    }
    enqueued.sort_unstable_by(|one, other| other.cmp(one));
    assert_eq!(listed, enqueued);
    let transactions = transactions.map(|all| format!("{all} transactions, "));
    print(&format!(
        "{}: {JOBS} jobs that fail: dead in {took:.1?} by one worker, {}{idle:?} of processor time in \
         {IDLE:?} afterwards",
        place.kind(),
        transactions.unwrap_or_default()
    ));
}

/// The server's count, where there is a server.
async fn transactions(place: &Place) -> Option<i64> {
    match place {
        Place::Sqlite(_) => None,
        Place::Postgres(database) => Some(settled_transactions(database, BOUND).await),
    }
}
