//! What others do while a transaction of the application's that has enqueued is open.

use std::time::Duration;

use tasklock_runtime::StoreErrorKind;
use tasklock_runtime::store::{Enqueued, NewJob, Then};

use super::{Committed, application, kind, nothing};
use crate::guard::begins;
use crate::steps::{
    LONG, NONE, at_once, claim, enqueue, finish, job, new, renewal, renewer, sorted, task, then,
    with_key,
};
use crate::world::World;

/// Keys that are free, and one that is the first of its task and taken by a run.
pub(crate) async fn others_work_on_beside_a_transaction_with_keys(world: &World) {
    let Some(mut sql) = application(world).await.filter(|_| world.locks_rows()) else {
        return;
    };
    let (store, other) = (world.store().await, world.store().await);
    let mut renewer = renewer(&*other).await;
    for begin in begins(&sql) {
        for key in ["f", "t", "k"] {
            enqueue(&*store, with_key(begin, key)).await;
        }
        enqueue(&*store, new(begin)).await;
        let runs = claim(&*other, &[begin], LONG, 9).await.claims;
        assert_eq!(runs.len(), 4, "{begin}");
        let keys = ["f", "g", "s", "g"];
        let jobs = keys.map(|key| with_key(begin, key));
        let meanwhile = Box::pin(async {
            let mut beside = vec![new(begin)];
            beside.extend(["a", "h", "l", "r", "z"].map(|key| with_key(begin, key)));
            for job in beside {
                assert!(at_once(enqueue(&*other, job)).await.is_new(), "{begin}");
            }
            let ends = runs[1..].iter();
            let ends: Vec<_> = ends
                .map(|run| then(&run.key, Then::Done(Some(LONG))))
                .collect();
            let ended = at_once(other.finish(&ends)).await.unwrap();
            let expected: Vec<_> = ends.iter().map(|end| end.key.job).collect();
            assert_eq!(sorted(ended), sorted(expected), "{begin}");
            let renewed = at_once(renewer.renew(&[renewal(&runs[0].key, LONG)])).await;
            assert_eq!(renewed.unwrap(), [runs[0].key.job], "{begin}");
            // A start.
            at_once(other.declare(&[task("standing", None)]))
                .await
                .unwrap();
            // Its key was found taken, and stays so: on MariaDB its end comes after that. Nobody waits for it.
            if world.is_mysql() {
                let end = then(&runs[0].key, Then::Done(None));
                assert_eq!(at_once(other.finish(&[end])).await.unwrap(), NONE);
            }
        });
        let enqueued = sql
            .within(
                begin,
                &*store.insertion(),
                &jobs,
                [nothing(), meanwhile],
                Committed,
            )
            .await
            .unwrap();
        assert_eq!(enqueued[0], Enqueued::Existing(runs[0].key.job), "{begin}");
        assert!(enqueued[1].is_new() && enqueued[2].is_new(), "{begin}");
        assert_eq!(enqueued[3], Enqueued::Existing(enqueued[1].id()), "{begin}");
        for (enqueued, key) in enqueued.iter().zip(keys) {
            let job = job(&*store, enqueued.id()).await;
            assert_eq!(job.unique_key.as_deref(), Some(key), "{begin}");
        }
        finish(&*store, then(&runs[0].key, Then::Done(None))).await;
    }
}

/// The transaction's snapshot still shows it running.
pub(crate) async fn a_key_whose_job_has_ended_is_free(world: &World) {
    let Some(mut sql) = application(world).await.filter(|_| world.locks_rows()) else {
        return;
    };
    let store = world.store().await;
    for begin in begins(&sql) {
        for kept in [Some(LONG), None] {
            let mut jobs: Vec<NewJob> = vec![with_key(begin, "key"), with_key(begin, "other")];
            let first = enqueue(&*store, jobs[0].clone()).await;
            let run = claim(&*store, &[begin], LONG, 1).await.claims.remove(0);
            assert_eq!(run.key.job, first.id());
            // Where others' keys are in the way, what was written is looked up, and the snapshot is in the way of that.
            let late = world.is_mysql().then(|| with_key(begin, "late"));
            jobs.extend(late.clone());
            let before = Box::pin(async {
                finish(&*store, then(&run.key, Then::Done(kept))).await;
                if let Some(late) = late {
                    enqueue(&*store, late).await;
                }
            });
            let steps: [super::Meanwhile<'_>; 2] = [before, nothing()];
            let enqueued = sql
                .within(begin, &*store.insertion(), &jobs, steps, Committed)
                .await;
            let enqueued = match enqueued {
                // Where the snapshot is held against it: the next one shows how it is.
                Err(error) if world.is_mysql() && !world.reads_past_snapshots() => {
                    assert_eq!(kind(&error), Some(StoreErrorKind::Busy), "{begin}: {error}");
                    let steps = [nothing(), nothing()];
                    sql.within(begin, &*store.insertion(), &jobs, steps, Committed)
                        .await
                        .unwrap()
                }
                enqueued => enqueued.unwrap(),
            };
            let (ours, late) = enqueued.split_at(2);
            let told = ours.iter().all(|job| job.is_new()) && !late.iter().any(|job| job.is_new());
            assert!(told, "{begin}: {enqueued:?}");
            for claim in claim(&*store, &[begin], LONG, 9).await.claims {
                finish(&*store, then(&claim.key, Then::Done(Some(Duration::ZERO)))).await;
            }
        }
    }
}
