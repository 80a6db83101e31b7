//! Renewals: only what is held, and never less than it had.

use std::time::Duration;

use tasklock_runtime::Next;
use tasklock_runtime::store::MAX_BATCH;

use crate::steps::{
    LONG, NONE, SHORT, assert_about, claim, claim_all, claim_one, declare_due, declare_many, end,
    expired, forgeries, held, jobs, renewal, renewals, renewer, row, sorted, taken_over,
};
use crate::world::World;

pub(crate) async fn only_what_is_held_is_confirmed(world: &World) {
    let store = world.store().await;
    let tasks = declare_many(&*store, 6).await;
    let claims = claim_all(&*store, &tasks, LONG).await;
    store
        .finish(&[end(&claims[3].key, Next::Dormant)])
        .await
        .unwrap();
    store.release(&[claims[4].key.clone()]).await.unwrap();
    let mut observer = world.observer().await;
    let finished = observer.see(claims[3].key.job).await;
    let released = observer.see(claims[4].key.job).await;
    let forged = observer.see(claims[5].key.job).await;

    let mut renewer = renewer(&*store).await;
    let mut batch: Vec<_> = forgeries(&claims[5].key)
        .iter()
        .map(|key| renewal(key, 10 * LONG))
        .collect();
    batch.extend(renewals(&claims[3..5], 10 * LONG));
    assert_eq!(
        renewer.renew(&batch).await.unwrap(),
        NONE,
        "nothing is held"
    );
    assert_eq!(observer.see(claims[3].key.job).await, finished);
    assert_eq!(observer.see(claims[4].key.job).await, released);
    assert_eq!(observer.see(claims[5].key.job).await, forged);
    assert_about(row(&*store, claims[5].key.job).await.left, LONG);

    // Among others they change nothing either.
    batch.extend(renewals(&claims[..3], 10 * LONG));
    assert_eq!(
        sorted(renewer.renew(&batch).await.unwrap()),
        jobs(&claims[..3])
    );
    for claim in &claims[..3] {
        assert_about(row(&*store, claim.key.job).await.left, 10 * LONG);
    }
    assert_about(row(&*store, claims[5].key.job).await.left, LONG);
    assert_eq!(row(&*store, claims[3].key.job).await.left, None);
    assert_eq!(renewer.renew(&[]).await.unwrap(), NONE);
}

pub(crate) async fn never_backwards(world: &World) {
    let store = world.store().await;
    let held = held(&*store, "task", 2 * LONG).await;
    let mut renewer = renewer(&*store).await;
    for (ttl, left) in [
        (SHORT, 2 * LONG),
        (20 * LONG, 20 * LONG),
        (SHORT, 20 * LONG),
    ] {
        let renewed = renewer.renew(&[renewal(&held.key, ttl)]).await.unwrap();
        assert_eq!(renewed, [held.key.job], "it is held all the same");
        assert_about(row(&*store, held.key.job).await.left, left);
    }
}

pub(crate) async fn each_row_its_own_ttl(world: &World) {
    let store = world.store().await;
    let tasks = declare_many(&*store, 3).await;
    let claims = claim_all(&*store, &tasks, SHORT).await;
    let ttls: Vec<Duration> = (1..=3).map(|times| times * LONG).collect();
    let batch: Vec<_> = claims
        .iter()
        .zip(&ttls)
        .map(|(claim, ttl)| renewal(&claim.key, *ttl))
        .collect();
    let mut renewer = renewer(&*store).await;
    assert_eq!(sorted(renewer.renew(&batch).await.unwrap()), jobs(&claims));
    for (claim, ttl) in claims.iter().zip(ttls) {
        assert_about(row(&*store, claim.key.job).await.left, ttl);
    }
}

pub(crate) async fn a_thousand_in_chunks(world: &World) {
    let store = world.store().await;
    let tasks = declare_many(&*store, 1_000).await;
    let claims = claim_all(&*store, &tasks, LONG).await;
    let mut renewer = renewer(&*store).await;
    let mut renewed = Vec::new();
    for chunk in renewals(&claims, 10 * LONG).chunks(MAX_BATCH) {
        renewed.extend(renewer.renew(chunk).await.unwrap());
    }
    assert_eq!(sorted(renewed), jobs(&claims));
    for chunk in jobs(&claims).chunks(MAX_BATCH) {
        for row in renewer.inspect(chunk).await.unwrap() {
            assert_about(row.left, 10 * LONG);
        }
    }
    assert_about(claim(&*store, &tasks, LONG, 1).await.wait, 10 * LONG);
}

/// Whether its holder still believes in it is the holder's business.
pub(crate) async fn an_expired_lease_that_nobody_took_is_renewed(world: &World) {
    let store = world.store().await;
    let held = held(&*store, "task", SHORT).await;
    expired(&*store, held.key.job).await;
    let mut renewer = renewer(&*store).await;
    let renewed = renewer.renew(&[renewal(&held.key, LONG)]).await.unwrap();
    assert_eq!(renewed, [held.key.job]);
    assert!(claim(&*store, &["task"], LONG, 1).await.claims.is_empty());
}

/// A process may have lost a job and claimed it again while the first run is still going.
pub(crate) async fn a_batch_may_hold_a_spent_lease_of_the_same_job(world: &World) {
    let store = world.store().await;
    let spent = held(&*store, "task", SHORT).await;
    let held = taken_over(&*store, "task", LONG).await;
    let mut renewer = renewer(&*store).await;
    for batch in [[&spent, &held], [&held, &spent]] {
        let ttls = batch.map(|claim| match claim.key.fence {
            1 => 20 * LONG,
            _ => 2 * LONG,
        });
        let batch = [
            renewal(&batch[0].key, ttls[0]),
            renewal(&batch[1].key, ttls[1]),
        ];
        assert_eq!(renewer.renew(&batch).await.unwrap(), [held.key.job]);
        assert_about(row(&*store, held.key.job).await.left, 2 * LONG);
    }
}

pub(crate) async fn it_connects_again_after_a_reset(world: &World) {
    let store = world.store().await;
    let held = held(&*store, "task", LONG).await;
    let mut renewer = renewer(&*store).await;
    for _ in 0..3 {
        renewer.reset();
        renewer.connect().await.unwrap();
        renewer.connect().await.unwrap();
        let renewed = renewer.renew(&[renewal(&held.key, LONG)]).await.unwrap();
        assert_eq!(renewed, [held.key.job]);
    }
}

/// At the end of a process, when the store's own connections may be gone.
pub(crate) async fn the_renewer_reads_and_gives_back_too(world: &World) {
    let store = world.store().await;
    declare_due(&*store, &["one", "two"]).await;
    let one = claim_one(&*store, "one", LONG).await;
    let two = claim_one(&*store, "two", LONG).await;
    let mut renewer = renewer(&*store).await;
    store.close().await;
    let rows = renewer.inspect(&[one.key.job, two.key.job]).await.unwrap();
    assert_eq!(rows.len(), 2);
    assert!(
        rows.iter().any(|row| row.is_held_under(&one.key)),
        "{rows:?}"
    );
    let mut keys = forgeries(&two.key);
    keys.push(one.key.clone());
    assert_eq!(renewer.release(&keys).await.unwrap(), [one.key.job]);
    assert_eq!(renewer.release(&keys).await.unwrap(), NONE);

    let store = world.store().await;
    assert!(row(&*store, two.key.job).await.is_held_under(&two.key));
    assert_eq!(claim_one(&*store, "one", LONG).await.attempt, 1);
}
