//! What happens between two statements.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tasklock_runtime::store::ClaimRequest;
use tokio::time::timeout;

use super::{by_hand, end_run, need, resource};
use crate::steps::{
    BOUND, LONG, SHORT, claim, enqueue, new, renewal, renewer, request, row, watch,
};
use crate::world::World;

/// Two jobs of one claim, so of one token. One has the name; the other is told that it needs the same name (`assign`), and
/// is given back. Whoever takes that one must not take the living one's name.
pub(crate) async fn a_takeover_takes_no_name_of_another_run_of_the_claim(world: &World) {
    let (a, b) = (world.store().await, world.store().await);
    let one = need(&*a, "task", "x", 1).await;
    let two = enqueue(&*a, new("task")).await.id();
    let claims = claim(&*a, &["task"], SHORT, 9).await.claims;
    assert_eq!(claims.len(), 2, "{claims:?}");
    let first = claims.iter().find(|c| c.key.job == one).unwrap().clone();
    let second = claims.iter().find(|c| c.key.job == two).unwrap().clone();
    let mut heartbeat = renewer(&*a).await;
    let both = [&first.key, &resource(&first).key].map(|key| renewal(key, LONG));
    assert_eq!(heartbeat.renew(&both).await.unwrap().len(), 2);
    a.assign(&second.key, "x").await.unwrap();
    // It is given back with that: no run has a name that it does not hold.
    assert!(!row(&*b, two).await.running);
    let stolen = claim(&*b, &["task"], LONG, 9).await.claims;
    let name = row(&*b, resource(&first).key.job).await;
    assert!(
        name.is_held_under(&resource(&first).key),
        "the living run's name was taken: {stolen:?}"
    );
}

/// What can never be claimed stands first among those that are parked for a name.
pub(crate) async fn an_odd_parked_row_holds_up_nobody(world: &World) {
    let store = world.store().await;
    let Some(mut sql) = world.sql().await else {
        return;
    };
    let hand = by_hand(&*store, "a", LONG).await.unwrap();
    let odd = need(&*store, "task", "a", 1).await;
    let sane = need(&*store, "task", "a", 2).await;
    assert!(claim(&*store, &["task"], LONG, 9).await.claims.is_empty());
    sql.execute(&format!(
        "UPDATE tasklock_job SET fence = 9223372036854775807 WHERE id = {odd}"
    ))
    .await;
    store.release(&[hand]).await.unwrap();
    let start = Instant::now();
    loop {
        let sweep = ClaimRequest {
            sweep: true,
            quick: false,
            tell: None,
            ..request(&["task"], LONG, 9)
        };
        let claims = store.claim(&sweep).await.unwrap().claims;
        if claims.iter().any(|claim| claim.key.job == sane) {
            return;
        }
        assert!(start.elapsed() < BOUND, "never claimed");
    }
}

/// A claim that finds the name busy while its holder gives it back. Either the claim says that something is to be had at
/// once, or somebody announces it: else the worker sleeps for a second beside a free name and a due job.
pub(crate) async fn a_name_given_back_during_a_claim_is_not_slept_on(world: &World) {
    let Some(([a, b], mut watch)) = watch(world, "slept_").await else {
        return;
    };
    let mut busy = 0;
    let mut slept = 0;
    for _ in 0..30 {
        let hand = by_hand(&*a, "a", LONG).await.unwrap();
        let id = need(&*a, "task", "a", 1).await;
        // The job's own announcement.
        let _ = timeout(Duration::from_millis(100), watch.next()).await;
        while !watch.is_quiet() {
            watch.next().await;
        }
        let release = {
            let (a, hand) = (Arc::clone(&a), hand.clone());
            tokio::spawn(async move { a.release(&[hand]).await.unwrap() })
        };
        let batch = claim(&*b, &["task"], LONG, 9).await;
        release.await.unwrap();
        let mut claims = batch.claims;
        if claims.is_empty() {
            busy += 1;
            let told = timeout(Duration::from_millis(100), watch.next()).await;
            let again = claim(&*b, &["task"], LONG, 9).await;
            if told.is_err() && !again.claims.is_empty() && batch.wait > Some(SHORT) {
                slept += 1;
            }
            claims = again.claims;
        }
        while claims.is_empty() {
            let sweep = ClaimRequest {
                sweep: true,
                quick: false,
                tell: None,
                ..request(&["task"], LONG, 9)
            };
            claims = b.claim(&sweep).await.unwrap().claims;
        }
        assert_eq!(claims[0].key.job, id);
        end_run(&*b, &claims[0]).await;
    }
    // A busy machine is late with an announcement now and then; without the look after the commit nine in ten are missed.
    assert!(4 * slept <= busy, "{slept} of {busy} that were busy");
}
