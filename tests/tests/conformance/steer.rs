//! What operators do: read, list and cancel jobs.

use tasklock_runtime::JobState::{Cancelled, Dead, Done, Ready, Running};
use tasklock_runtime::store::{
    Cancelled as Cancel, Due, Job, JobQuery, NewJob, Steer, Store, Then,
};
use tasklock_runtime::{JobState, Next};

use crate::steps::{
    LONG, NONE, SECOND, SHORT, claim, declare_due, end, enqueue, expired, finish, finished, held,
    job, new, renewal, renewer, row, started, taken_over, then, with_key,
};
use crate::world::World;

pub(crate) async fn list(
    store: &(impl Steer + ?Sized),
    task: Option<&str>,
    states: &[JobState],
    before: i64,
    limit: usize,
) -> Vec<i64> {
    let query = JobQuery {
        task: task.map(str::to_owned),
        states: states.to_vec(),
        before,
        limit,
    };
    let found: Vec<Job> = store.jobs(&query).await.unwrap();
    assert!(found.iter().all(|job| states.contains(&job.state)));
    found.iter().map(|job| job.id).collect()
}

/// A job in each state, in this order.
pub(crate) async fn one_of_each(store: &dyn Store, task: &str) -> [i64; 5] {
    let mut ids = Vec::new();
    for end in [
        Then::Done(Some(LONG)),
        Then::Dead(LONG),
        Then::Cancelled(LONG),
    ] {
        let claim = started(store, task, LONG).await;
        finish(store, then(&claim.key, end)).await;
        ids.push(claim.key.job);
    }
    ids.push(started(store, task, LONG).await.key.job);
    ids.push(enqueue(store, new(task)).await.id());
    ids.try_into().unwrap()
}

pub(crate) async fn jobs_are_listed_the_newest_first(world: &World) {
    let store = world.store().await;
    let [done, dead, cancelled, running, ready] = one_of_each(&*store, "task").await;
    let others = one_of_each(&*store, "other").await;
    declare_due(&*store, &["standing"]).await;
    let standing = job(
        &*store,
        store.standing("standing").await.unwrap().unwrap().job,
    )
    .await;
    assert!(standing.is_standing);

    let all = [Ready, Running, Done, Dead, Cancelled];
    let task = Some("task");
    let of_task = list(&*store, task, &all, i64::MAX, 99).await;
    assert_eq!(of_task, [ready, running, cancelled, dead, done]);
    let all_tasks = list(&*store, None, &all, i64::MAX, 99).await;
    assert_eq!(all_tasks.len(), 11);
    assert_eq!(all_tasks[0], standing.id);
    assert!(all_tasks.is_sorted_by(|one, two| one > two));
    for (state, id, other) in [
        (Done, done, others[0]),
        (Dead, dead, others[1]),
        (Cancelled, cancelled, others[2]),
        (Running, running, others[3]),
        (Ready, ready, others[4]),
    ] {
        assert_eq!(list(&*store, task, &[state], i64::MAX, 9).await, [id]);
        assert!(
            list(&*store, None, &[state], i64::MAX, 9)
                .await
                .ends_with(&[other, id])
        );
    }
    let ended = [Done, Dead, Cancelled];
    assert_eq!(
        list(&*store, task, &ended, i64::MAX, 2).await,
        [cancelled, dead]
    );
    assert_eq!(list(&*store, task, &ended, dead, 2).await, [done]);
    assert_eq!(list(&*store, task, &ended, done, 2).await, NONE);
    assert_eq!(
        list(&*store, task, &[Done, Ready], i64::MAX, 9).await,
        [ready, done]
    );
    assert_eq!(list(&*store, task, &[], i64::MAX, 9).await, NONE);
    assert_eq!(list(&*store, task, &all, i64::MAX, 0).await, NONE);
    assert_eq!(list(&*store, Some("Task"), &all, i64::MAX, 9).await, NONE);
    // A page that begins at a job which has gone since.
    let pages = list(&*store, None, &all, all_tasks[3], 3).await;
    assert_eq!(pages, all_tasks[4..7]);
    assert!(store.job(i64::MAX).await.unwrap().is_none());
    assert!(store.job(-1).await.unwrap().is_none());
}

pub(crate) async fn a_waiting_job_is_cancelled_at_once(world: &World) {
    let store = world.store().await;
    let later = NewJob {
        due: Due::In(LONG),
        ..with_key("task", "key")
    };
    for waiting in [with_key("task", "key"), later] {
        let id = enqueue(&*store, waiting).await.id();
        assert_eq!(store.cancel(id).await.unwrap(), Some(Cancel::Now));
        let cancelled = job(&*store, id).await;
        assert_eq!(cancelled.state, Cancelled);
        assert_eq!(cancelled.last_outcome.as_deref(), Some("cancelled"));
        let now = store.now().await.unwrap();
        for at in [cancelled.cancelled_at, cancelled.finished_at] {
            let ago = now - at.unwrap().as_microsecond();
            assert!((0..60 * SECOND).contains(&ago), "{ago}");
        }
        let batch = claim(&*store, &["task"], LONG, 9).await;
        assert_eq!((batch.claims, batch.wait), (Vec::new(), None));
        assert_eq!(store.cancel(id).await.unwrap(), Some(Cancel::AlreadyEnded));
        assert_eq!(list(&*store, None, &[Cancelled], i64::MAX, 1).await, [id]);
    }
    // Its key is free.
    assert!(enqueue(&*store, with_key("task", "key")).await.is_new());
}

pub(crate) async fn a_cancel_says_what_it_found(world: &World) {
    let store = world.store().await;
    let [done, dead, cancelled, running, ready] = one_of_each(&*store, "task").await;
    let standing = held(&*store, "standing", LONG).await.key;
    let ask = async |id| store.cancel(id).await.unwrap();
    for ended in [done, dead, cancelled] {
        let before = job(&*store, ended).await;
        assert_eq!(ask(ended).await, Some(Cancel::AlreadyEnded));
        assert_eq!(job(&*store, ended).await, before);
    }
    assert_eq!(ask(running).await, Some(Cancel::Soon));
    let first = job(&*store, running).await.cancelled_at;
    assert_eq!(ask(running).await, Some(Cancel::Soon));
    assert_eq!(job(&*store, running).await.cancelled_at, first);
    assert_eq!(ask(ready).await, Some(Cancel::Now));
    assert_eq!(ask(ready).await, Some(Cancel::AlreadyEnded));
    assert_eq!(ask(standing.job).await, Some(Cancel::Standing));
    finish(&*store, end(&standing, Next::Dormant)).await;
    assert_eq!(ask(standing.job).await, Some(Cancel::Standing));
    assert_eq!(ask(ready + 1_000).await, None);
}

/// Its owner keeps the row, and no renewal: it is told so, and by then nobody else has started.
pub(crate) async fn a_cancelled_run_is_not_renewed_and_learns_why(world: &World) {
    let store = world.store().await;
    let claim = started(&*store, "task", LONG).await;
    let other = started(&*store, "other", LONG).await;
    let mut renewer = renewer(&*store).await;
    let renewals = [renewal(&claim.key, LONG), renewal(&other.key, LONG)];
    assert_eq!(renewer.renew(&renewals).await.unwrap().len(), 2);
    assert!(!row(&*store, claim.key.job).await.to_cancel);
    store.cancel(claim.key.job).await.unwrap();
    let renewed = renewer.renew(&renewals).await.unwrap();
    assert_eq!(renewed, [other.key.job]);
    for rows in [
        renewer.inspect(&[claim.key.job]).await.unwrap(),
        store.inspect(&[claim.key.job]).await.unwrap(),
    ] {
        assert!(rows[0].to_cancel && rows[0].is_held_under(&claim.key));
        assert!(rows[0].left > Some(LONG / 2), "its lease stands");
    }
    assert!(!row(&*store, other.key.job).await.to_cancel);
    assert!(claim_nothing(&*store, "task").await);
}

async fn claim_nothing(store: &dyn Store, task: &str) -> bool {
    claim(store, &[task], LONG, 9).await.claims.is_empty()
}

pub(crate) async fn who_takes_a_cancelled_run_over_is_told(world: &World) {
    let store = world.store().await;
    let claim = started(&*store, "task", SHORT).await;
    store.cancel(claim.key.job).await.unwrap();
    expired(&*store, claim.key.job).await;
    let next = taken_over(&*store, "task", LONG).await;
    assert!(next.to_cancel && next.crashes == 1);
    let cancelled = finished(&*store, &next.key, Then::Cancelled(LONG)).await;
    assert_eq!(cancelled.state, Cancelled);
    assert_eq!(
        store
            .finish(&[then(&claim.key, Then::Done(None))])
            .await
            .unwrap(),
        NONE
    );
}
