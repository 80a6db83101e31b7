//! Rows that somebody has edited: one of them stops nobody else, as on every store.

use tasklock_runtime::store::{Enqueued, NewJob};
use tasklock_test_support::redis::place;

use crate::steps::{claim, done, job, open, renewal};

const FIELDS: [&str; 12] = [
    "task",
    "state",
    "priority",
    "due_at",
    "fence",
    "lock_until",
    "attempt",
    "crashes",
    "hold_until",
    "next_in",
    "slot_at",
    "parked_rank",
];
const ODD: [&str; 6] = ["abc", "", "nan", "inf", "-1", "9223372036854775807"];

#[tokio::test]
async fn an_odd_row_stops_nobody() {
    let Some(place) = place().await else {
        return;
    };
    let store = open(place.url(), Some(place.prefix())).await;
    let store = store.expect("it is there");
    store.migrate().await.expect("it answers");
    let mut renewer = store.renewer();
    let mut connection = place.connect().await;
    for field in FIELDS {
        for odd in ODD {
            let new = [job("task"), job("task")];
            let ids = store.enqueue(&new).await.expect("it answers");
            let running = claim(&*store, "task", 1).await;
            for id in ids.into_iter().map(Enqueued::id) {
                let key = format!("{{{}}}:job:{id}", place.prefix());
                let mut set = redis::cmd("HSET");
                set.arg(key).arg(field).arg(odd);
                let set = set.exec_async(&mut connection).await;
                set.expect("anybody may");
            }
            let why = format!("{field} = {odd:?}");
            let sane = NewJob {
                payload: Some(why.clone()),
                ..job("task")
            };
            let sane = store.enqueue(&[sane]).await.expect("it answers")[0].id();
            for held in &running {
                renewer.renew(&[renewal(&held.key)]).await.expect(&why);
                store.finish(&[done(&held.key)]).await.expect(&why);
            }
            // Every one of these goes away, or is never taken again.
            let claims = claim(&*store, "task", 100).await;
            let ends: Vec<_> = claims.iter().map(|claim| done(&claim.key)).collect();
            store.finish(&ends).await.expect(&why);
            let found = store.job(sane).await.expect(&why);
            let found = found.expect("it is kept");
            assert!(found.state.as_str() == "done", "{why}: {found:?}");
        }
    }
}
