//! How far a run is: told with renewals, and of the run that is under way alone.

use tasklock_runtime::store::{Renewal, Renewer, Store, Then};
use tasklock_runtime::{LeaseKey, Next, Progress};

use crate::steps::{
    LONG, NONE, SHORT, claim_one, expired, finished, forgeries, held, job, renewal, renewer,
    started, taken_over,
};
use crate::world::{Sql, World};

fn said(key: &LeaseKey, done: u64, total: u64) -> Renewal {
    Renewal {
        progress: Some(Progress::new(done, total)),
        ..renewal(key, LONG)
    }
}

async fn renew(renewer: &mut dyn Renewer, renewal: Renewal) {
    let job = renewal.key.job;
    assert_eq!(renewer.renew(&[renewal]).await.unwrap(), [job]);
}

async fn shown(store: &dyn Store, id: i64) -> Option<(u64, u64)> {
    let progress = job(store, id).await.progress;
    progress.map(|progress| (progress.done, progress.total))
}

pub(crate) async fn it_is_what_was_said_last(world: &World) {
    let store = world.store().await;
    let claim = started(&*store, "task", LONG).await;
    let (key, id) = (&claim.key, claim.key.job);
    let mut renewer = renewer(&*store).await;
    assert_eq!(shown(&*store, id).await, None);
    renew(&mut *renewer, renewal(key, LONG)).await;
    assert_eq!(shown(&*store, id).await, None);
    for (done, total) in [(3, 10), (4, 10), (0, 0), (9, 2)] {
        renew(&mut *renewer, said(key, done, total)).await;
        assert_eq!(shown(&*store, id).await, Some((done, total)));
        // Whoever has nothing to say takes nothing back.
        renew(&mut *renewer, renewal(key, LONG)).await;
        assert_eq!(shown(&*store, id).await, Some((done, total)));
    }
    // The greatest number that every database has.
    renew(&mut *renewer, said(key, u64::MAX, 1 << 63)).await;
    let most = i64::MAX.unsigned_abs();
    assert_eq!(shown(&*store, id).await, Some((most, most)));
}

/// Each lease of a batch says its own, and who does not hold one says nothing.
pub(crate) async fn each_run_has_its_own(world: &World) {
    let store = world.store().await;
    let one = started(&*store, "one", LONG).await.key;
    let two = started(&*store, "two", LONG).await.key;
    let silent = started(&*store, "silent", LONG).await.key;
    let mut renewer = renewer(&*store).await;
    let batch = [said(&one, 1, 10), renewal(&silent, LONG), said(&two, 2, 20)];
    assert_eq!(renewer.renew(&batch).await.unwrap().len(), 3);
    let forged: Vec<_> = forgeries(&one).iter().map(|key| said(key, 7, 7)).collect();
    assert_eq!(renewer.renew(&forged).await.unwrap(), NONE);
    assert_eq!(shown(&*store, one.job).await, Some((1, 10)));
    assert_eq!(shown(&*store, two.job).await, Some((2, 20)));
    assert_eq!(shown(&*store, silent.job).await, None);
}

/// The next run has said nothing yet, however the one before ended, and whether or not it was renewed.
pub(crate) async fn it_goes_with_its_run(world: &World) {
    let store = world.store().await;
    let mut renewer = renewer(&*store).await;
    let key = held(&*store, "task", LONG).await.key;
    let id = key.job;
    let again = async || {
        store.trigger("task").await.unwrap();
        claim_one(&*store, "task", LONG).await.key
    };
    // Given back.
    renew(&mut *renewer, said(&key, 1, 10)).await;
    assert_eq!(store.release(&[key]).await.unwrap(), [id]);
    assert_eq!(shown(&*store, id).await, None);
    let key = again().await;
    assert_eq!(shown(&*store, id).await, None);
    renew(&mut *renewer, renewal(&key, LONG)).await;
    assert_eq!(shown(&*store, id).await, None);

    // Ended.
    renew(&mut *renewer, said(&key, 2, 10)).await;
    let slot = Then::Slot(Next::Dormant);
    assert_eq!(finished(&*store, &key, slot).await.progress, None);
    let key = again().await;
    assert_eq!(shown(&*store, id).await, None);
    renew(&mut *renewer, renewal(&key, LONG)).await;
    assert_eq!(shown(&*store, id).await, None);
}

/// What a dead worker's run had said stays to be seen, until somebody else has begun.
pub(crate) async fn it_outlives_its_worker_and_no_takeover(world: &World) {
    let store = world.store().await;
    let claim = started(&*store, "task", SHORT).await;
    let id = claim.key.job;
    let mut renewer = renewer(&*store).await;
    let short = Renewal {
        ttl: SHORT,
        ..said(&claim.key, 5, 10)
    };
    renew(&mut *renewer, short).await;
    expired(&*store, id).await;
    assert_eq!(shown(&*store, id).await, Some((5, 10)));
    let next = taken_over(&*store, "task", LONG).await;
    assert_eq!(shown(&*store, id).await, None);
    let late = [said(&claim.key, 6, 10)];
    assert_eq!(renewer.renew(&late).await.unwrap(), NONE);
    assert_eq!(shown(&*store, id).await, None);
    renew(&mut *renewer, renewal(&next.key, LONG)).await;
    assert_eq!(shown(&*store, id).await, None);
    renew(&mut *renewer, said(&next.key, 1, 10)).await;
    assert_eq!(shown(&*store, id).await, Some((1, 10)));
}

/// A renewal without progress leaves what a hand has written; one with progress mends it.
pub(crate) async fn odd_numbers_break_nothing(world: &World) {
    let store = world.store().await;
    let Some(mut sql) = world.sql().await else {
        return;
    };
    let claim = started(&*store, "task", LONG).await;
    let (key, id) = (&claim.key, claim.key.job);
    let sane = started(&*store, "task", LONG).await.key;
    let mut renewer = renewer(&*store).await;
    let (table, own) = match sql {
        Sql::Sqlite(_) => ("tasklock_job", "id"),
        Sql::MySql(_) | Sql::Postgres(_) => ("tasklock_heartbeat", "job_id"),
    };
    const MOST: u64 = i64::MAX.unsigned_abs();
    let mut odd = vec![
        ("-1", "10", Some((0, 10))),
        ("7", "-9223372036854775808", Some((7, 0))),
        (
            "9223372036854775807",
            "9223372036854775807",
            Some((MOST, MOST)),
        ),
        ("NULL", "10", None),
        ("10", "NULL", None),
        ("NULL", "NULL", None),
    ];
    if matches!(sql, Sql::Sqlite(_)) {
        odd.extend([
            ("'half'", "10", None),
            ("9e999", "10", None),
            ("1.5", "10", None),
            ("1", "x'ff'", None),
        ]);
    }
    for (done, total, expected) in odd {
        renew(&mut *renewer, said(key, 3, 10)).await;
        sql.execute(&format!(
            "UPDATE {table} SET progress_done = {done}, progress_total = {total} WHERE {own} = {id}"
        ))
        .await;
        assert_eq!(shown(&*store, id).await, expected, "{done} of {total}");
        let both = [renewal(key, LONG), said(&sane, 1, 2)];
        assert_eq!(renewer.renew(&both).await.unwrap().len(), 2);
        assert_eq!(shown(&*store, id).await, expected, "{done} of {total}");
        assert_eq!(shown(&*store, sane.job).await, Some((1, 2)));
    }
    renew(&mut *renewer, said(key, 4, 10)).await;
    assert_eq!(shown(&*store, id).await, Some((4, 10)));

    // A side row of another fence is another run's.
    if !matches!(sql, Sql::Sqlite(_)) {
        for fence in [-1, 1] {
            sql.execute(&format!(
                "UPDATE tasklock_heartbeat SET fence = {} WHERE job_id = {id}",
                key.fence + fence
            ))
            .await;
            assert_eq!(shown(&*store, id).await, None, "{fence}");
        }
        sql.execute(&format!(
            "UPDATE tasklock_heartbeat SET fence = {} WHERE job_id = {id}",
            key.fence - 1
        ))
        .await;
        renew(&mut *renewer, renewal(key, LONG)).await;
        assert_eq!(shown(&*store, id).await, None);
    }
}
