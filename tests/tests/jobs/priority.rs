//! Priority goes ahead, and age catches up with it.

use jiff::{SignedDuration, Timestamp};
use tasklock_runtime::Client;

use crate::support::{
    Audit, Place, What, all_over, client, count, print, ready, until_at_least, worker,
};

const SLOTS: (&str, &str) = ("TASKLOCK_CONCURRENCY", "4");
const ONE_SLOT: (&str, &str) = ("TASKLOCK_CONCURRENCY", "1");

on_both! {
    alone: what_matters_goes_ahead_of_a_backlog,
    alone: nothing_waits_for_ever,
}

/// While two thousand wait, twenty come that matter.
async fn what_matters_goes_ahead_of_a_backlog(place: Place) {
    let client = client(&place).await;
    Audit::install(&place).await;
    let low = client.enqueue_many("ranked", 0..2_000).await;
    low.expect("the database takes them");
    let worker = worker(&place, "ranked", &[SLOTS]);
    let some = "SELECT count(*) FROM tasklock_job WHERE state = 'done'";
    until_at_least(&place, 50, some).await;
    let high = client.enqueue_many("ranked", 0..20).priority(1_000).await;
    let high: Vec<i64> = high
        .expect("the database takes them")
        .into_iter()
        .map(|job| job.id())
        .collect();
    let last = high.last().copied().unwrap_or_default();
    let done = format!(
        "SELECT count(*) FROM tasklock_job WHERE id >= {} AND state = 'done'",
        high[0]
    );
    until_at_least(&place, 20, &done).await;
    let left = "SELECT count(*) FROM tasklock_job WHERE state = 'ready'";
    assert!(count(&place, left).await > 0, "{}", worker.report());
    let events = Audit::of(&place, "ranked").await;
    let came = events
        .iter()
        .position(|event| event.job == last && event.what == What::New);
    let came = came.expect("it was written");
    let claims = events[came..].iter().filter(|event| event.starts());
    let claims: Vec<i64> = claims.map(|event| event.job).collect();
    let before = |ids: &[i64]| {
        let from_first = ids.iter().rposition(|id| high.contains(id));
        ids[..from_first.unwrap_or_default()]
            .iter()
            .filter(|id| !high.contains(id))
            .count()
    };
    // A claim that was under way when they came: for the slots, and for what they do within 20 ms.
    let overtaken = before(&claims);
    assert!(
        overtaken <= 4 + 8,
        "{overtaken} of the backlog ran after they had come: {claims:?}"
    );
    print(&format!(
        "{}: 20 jobs of a high priority beside a backlog of 2,000: {overtaken} others were started \
         after they had come and before the last of them",
        place.kind()
    ));
}

/// One is due beside a stream of others, each two points ahead, more than can be done: it runs once
/// these are from two seconds later.
async fn nothing_waits_for_ever(place: Place) {
    const STREAM: i64 = 400;
    const APART: i64 = 20_000;
    let client = client(&place).await;
    Audit::install(&place).await;
    let now = Timestamp::now();
    let low = enqueue(&client, now, 0).await;
    // From four seconds before it to four seconds after it.
    for nth in 0..STREAM {
        let due = SignedDuration::from_micros((nth - STREAM / 2) * APART);
        enqueue(&client, now.checked_add(due).expect("in our time"), 2).await;
    }
    let worker = worker(&place, "ranked", &[ONE_SLOT]);
    ready(&worker);
    all_over(&place, "ranked").await;
    let events = Audit::of(&place, "ranked").await;
    let claims: Vec<&Audit> = events.iter().filter(|event| event.starts()).collect();
    let turn = claims.iter().position(|claim| claim.job == low);
    let turn = turn.expect("it ran");
    let own = now.as_microsecond();
    let ranks = |claims: &[&Audit]| -> Vec<i64> {
        claims
            .iter()
            .filter_map(|claim| Some(claim.due? - 2_000_000 - own))
            .collect()
    };
    // All that rank before it ran before it, and there are others.
    let (before, after) = (ranks(&claims[..turn]), ranks(&claims[turn + 1..]));
    // Those of one claim stand in the log in any order: what a slot does within 20 ms, and the slot.
    let together = -3 * APART;
    assert!(after.iter().all(|rank| *rank >= together), "{after:?}");
    assert!(!after.is_empty(), "it was the last of all");
    assert!(before.len() > STREAM as usize / 2, "{turn} ran before it");
    print(&format!(
        "{}: beside {STREAM} jobs of priority 2 that fall due one after the other, one of priority 0 ran \
         after {turn} of them",
        place.kind()
    ));
}

async fn enqueue(client: &Client, due: Timestamp, priority: i16) -> i64 {
    let job = client
        .enqueue("ranked", &0)
        .at(due)
        .priority(priority)
        .await;
    job.expect("the database takes it").id()
}
