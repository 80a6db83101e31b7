//! Ends that the application's own transaction writes.

use tasklock_runtime::JobState;
use tasklock_runtime::store::{Finish, Then};

use crate::guard::{NOTHING, application, begins, is_refused};
use crate::steps::{LONG, NONE, enqueue_due, job, limited, renewal, renewer, row, started, then};
use crate::world::World;

/// A transaction writes the end of a job that was enqueued, while its heartbeat goes on.
pub(crate) async fn a_transaction_completes_a_job_that_was_enqueued(world: &World) {
    let Some(mut sql) = application(world).await else {
        return;
    };
    let store = world.store().await;
    for begin in begins(&sql) {
        for (keep, hold) in [(Some(LONG), None), (None, None), (None, Some(2 * LONG))] {
            let claim = started(&*store, "task", LONG).await;
            let mut heartbeat = renewer(&*store).await;
            let renewals = [renewal(&claim.key, LONG)];
            assert_eq!(heartbeat.renew(&renewals).await.unwrap(), [claim.key.job]);
            let end = Finish {
                hold,
                error: None,
                ..then(&claim.key, Then::Done(keep))
            };
            let anchor = store.anchor(end.clone(), LONG);
            let committed = sql.effect(begin, &*anchor, true, NOTHING).await;
            assert!(committed.is_ok(), "{begin}: {committed:?}");

            let done = job(&*store, claim.key.job).await;
            assert_eq!(done.state, JobState::Done, "{begin}");
            assert_eq!(done.last_outcome.as_deref(), Some("ended"), "{begin}");
            assert_eq!((done.last_error, done.worker), (None, None), "{begin}");
            assert_eq!((done.attempt, done.lock_until), (1, None), "{begin}");
            assert_eq!(row(&*store, claim.key.job).await.left, None, "{begin}");
            assert_eq!(heartbeat.renew(&renewals).await.unwrap(), NONE);
            assert_eq!(store.finish(&[end]).await.unwrap(), NONE);
            assert!(is_refused(
                &sql.effect(begin, &*anchor, true, NOTHING).await
            ));
            // It keeps its place for as long as it was told, and is kept for no longer.
            let look = limited("task", LONG, 1, 9);
            enqueue_due(&*store, "task", 1).await;
            let next = store.claim(&look).await.unwrap().claims;
            assert_eq!(next.is_empty(), hold.is_some(), "{begin}");
            let gone = usize::from(keep.is_none() && hold.is_none());
            assert_eq!(store.prune(9).await.unwrap(), gone, "{begin}");
            sql.execute("DELETE FROM tasklock_job").await;
        }
    }
    let written = 3 * begins(&sql).len();
    assert_eq!(sql.effects().await, written.to_string());
}
