//! An owner that has lost its lease and does not know it.

use std::sync::Arc;
use std::time::Duration;

use tasklock_runtime::store::{Claim, Counts, Renewer, Store, Then};
use tasklock_runtime::{LeaseKey, Next};

use crate::steps::{
    LONG, NONE, SHORT, claim_one, end, ends, finish, held, renewal, renewer, row, started,
    taken_over, then,
};
use crate::world::World;

/// A was stopped past its ttl, and B has its job.
struct Overtaken {
    a: Arc<dyn Store>,
    heartbeat: Box<dyn Renewer>,
    first: Claim,
    b: Arc<dyn Store>,
    second: Claim,
}

impl Overtaken {
    /// Of a standing job.
    async fn new(world: &World) -> Self {
        Self::of(world, async |store, ttl| held(store, "task", ttl).await).await
    }

    async fn of(world: &World, take: impl AsyncFnOnce(&dyn Store, Duration) -> Claim) -> Self {
        let (a, b) = (world.store().await, world.store().await);
        let first = take(&*a, SHORT).await;
        let mut heartbeat = renewer(&*a).await;
        heartbeat
            .renew(&[renewal(&first.key, SHORT)])
            .await
            .unwrap();
        let second = taken_over(&*b, "task", LONG).await;
        Self {
            a,
            heartbeat,
            first,
            b,
            second,
        }
    }

    /// All that A may still send.
    async fn wakes_up(&mut self) {
        // What it has, and what no mistake of its own may turn that into.
        let mixed = |fence, owner: &LeaseKey| LeaseKey {
            job: self.first.key.job,
            fence,
            owner: owner.owner.clone(),
        };
        for key in [
            self.first.key.clone(),
            mixed(self.second.key.fence, &self.first.key),
            mixed(self.first.key.fence, &self.second.key),
        ] {
            let renewed = self.heartbeat.renew(&[renewal(&key, 10 * LONG)]).await;
            assert_eq!(renewed.unwrap(), NONE);
            let keys = [key.clone()];
            assert_eq!(self.heartbeat.release(&keys).await.unwrap(), NONE);
            assert_eq!(self.a.release(&keys).await.unwrap(), NONE);
            for next in [Next::Dormant, Next::at(1)] {
                assert_eq!(self.a.finish(&[end(&key, next)]).await.unwrap(), NONE);
            }
            for end in ends(&key) {
                assert_eq!(self.a.finish(&[end]).await.unwrap(), NONE);
            }
            assert_eq!(self.a.finish(&ends(&key)).await.unwrap(), NONE);
        }
        assert_eq!(self.a.abandon(&self.first.key.owner).await.unwrap(), 0);
    }
}

/// The job was enqueued: B's end of it is its last, or cancelled, or it is run anew.
pub(crate) async fn an_owner_whose_job_has_ended_changes_nothing(world: &World) {
    for (nth, over) in [
        Then::Done(Some(LONG)),
        Then::Dead(LONG),
        Then::Cancelled(LONG),
        Then::Again(10 * LONG, Counts::Attempt),
    ]
    .into_iter()
    .enumerate()
    {
        let mut both =
            Overtaken::of(world, async |store, ttl| started(store, "task", ttl).await).await;
        let job = both.second.key.job;
        let mut observer = world.observer().await;
        let before = observer.see(job).await;
        both.wakes_up().await;
        assert_eq!(observer.see(job).await, before);
        if nth == 2 {
            both.b.cancel(job).await.unwrap();
            let before = observer.see(job).await;
            both.wakes_up().await;
            assert_eq!(observer.see(job).await, before, "it is to be cancelled");
        }
        finish(&*both.b, then(&both.second.key, over)).await;
        let before = observer.see(job).await;
        both.wakes_up().await;
        assert_eq!(observer.see(job).await, before, "{over:?}");
        assert_eq!(both.b.finish(&ends(&both.second.key)).await.unwrap(), NONE);
        assert_eq!(observer.see(job).await, before, "{over:?}");

        both.b.retry(job).await.unwrap();
        let before = observer.see(job).await;
        both.wakes_up().await;
        assert_eq!(observer.see(job).await, before, "it is run anew");
        let third = claim_one(&*both.b, "task", LONG).await;
        let before = observer.see(job).await;
        both.wakes_up().await;
        assert_eq!(observer.see(job).await, before, "it runs anew");
        finish(&*both.b, then(&third.key, Then::Done(None))).await;
        both.wakes_up().await;
        assert_eq!(both.a.inspect(&[job]).await.unwrap(), []);
    }
}

pub(crate) async fn a_former_owner_changes_nothing(world: &World) {
    let mut both = Overtaken::new(world).await;
    let second = both.second.key.clone();
    assert!(second.fence > both.first.key.fence);
    let mut observer = world.observer().await;
    let before = observer.see(second.job).await;
    let left = row(&*both.b, second.job).await.left;
    both.wakes_up().await;
    assert_eq!(observer.see(second.job).await, before);
    assert!(
        row(&*both.b, second.job).await.left <= left,
        "not renewed by A"
    );

    // The same once more, when B has renewed.
    let mut heartbeat = renewer(&*both.b).await;
    let renewed = heartbeat.renew(&[renewal(&second, 2 * LONG)]).await;
    assert_eq!(renewed.unwrap(), [second.job]);
    let before = observer.see(second.job).await;
    both.wakes_up().await;
    assert_eq!(observer.see(second.job).await, before);
    assert!(row(&*both.b, second.job).await.left <= Some(2 * LONG));
    let ends = [end(&second, Next::at(9))];
    assert_eq!(both.b.finish(&ends).await.unwrap(), [second.job]);
}

pub(crate) async fn it_changes_nothing_after_the_new_owner_has_finished_either(world: &World) {
    let mut both = Overtaken::new(world).await;
    let job = both.second.key.job;
    let ends = [end(&both.second.key, Next::at(9))];
    assert_eq!(both.b.finish(&ends).await.unwrap(), [job]);
    let mut observer = world.observer().await;
    let before = observer.see(job).await;
    both.wakes_up().await;
    assert_eq!(observer.see(job).await, before);
    assert_eq!(before.row.due_at, Some(9));
}
