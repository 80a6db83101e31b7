//! What becomes of a job when its run ends.

use std::time::Duration;

use tasklock_runtime::store::{Cancelled, Counts, Enqueued, Finish, JobQuery, Store, Then};
use tasklock_runtime::{JobState, Next};

use crate::steps::{
    LONG, NONE, SECOND, assert_about, claim, claim_one, declare_due, end, enqueue_due, expired,
    finish, finished, held, job, new, row, standing, started, taken_over, then,
};
use crate::world::World;

/// What an instant says of how long after now.
fn about(at: Option<jiff::Timestamp>, now: i64, span: Duration) {
    let ahead = at.expect("an instant").as_microsecond() - now;
    let ahead = Duration::from_micros(u64::try_from(ahead).unwrap_or(0));
    assert_about(Some(ahead), span);
}

pub(crate) async fn an_ended_job_stays_with_what_is_known_of_it(world: &World) {
    let store = world.store().await;
    for (end, state) in [
        (Then::Done(Some(LONG)), JobState::Done),
        (Then::Done(Some(Duration::ZERO)), JobState::Done),
        (Then::Dead(LONG), JobState::Dead),
        (Then::Cancelled(LONG), JobState::Cancelled),
    ] {
        let claim = started(&*store, "task", LONG).await;
        let ended = finished(&*store, &claim.key, end).await;
        assert_eq!(ended.state, state);
        assert_eq!(ended.last_outcome.as_deref(), Some("ended"));
        assert_eq!(ended.last_error.as_deref(), Some("why"));
        assert!(ended.finished_at >= ended.claimed_at && ended.claimed_at.is_some());
        assert_eq!((ended.worker, ended.lock_until), (None, None));
        assert_eq!((ended.attempt, ended.fence), (1, claim.key.fence));
        let row = row(&*store, claim.key.job).await;
        assert!(!row.running && row.owner.is_none() && row.left.is_none());
        let batch = claim_none(&*store).await;
        assert_eq!(batch, None, "nothing more to wait for");
        assert_eq!(store.trigger("task").await.unwrap(), None);
    }
}

async fn claim_none(store: &dyn Store) -> Option<Duration> {
    let batch = claim(store, &["task"], LONG, 9).await;
    assert_eq!(batch.claims, []);
    batch.wait
}

pub(crate) async fn a_job_of_which_nothing_is_kept_is_gone(world: &World) {
    let store = world.store().await;
    let kept = started(&*store, "kept", LONG).await;
    let gone = started(&*store, "task", LONG).await;
    let mut renewer = crate::steps::renewer(&*store).await;
    let renewals = crate::steps::renewals(&[kept.clone(), gone.clone()], LONG);
    assert_eq!(renewer.renew(&renewals).await.unwrap().len(), 2);
    // Both kinds in one call.
    let ends = [
        then(&gone.key, Then::Done(None)),
        then(&kept.key, Then::Done(Some(LONG))),
    ];
    assert_eq!(store.finish(&ends).await.unwrap().len(), 2);
    assert!(store.job(gone.key.job).await.unwrap().is_none());
    assert_eq!(store.inspect(&[gone.key.job]).await.unwrap(), []);
    assert_eq!(job(&*store, kept.key.job).await.state, JobState::Done);
    assert_eq!(claim_none(&*store).await, None);
    if let Some(mut sql) = world.sql().await.filter(|_| world.locks_rows()) {
        let beats = "SELECT count(*) FROM tasklock_heartbeat";
        assert_eq!(sql.number(beats).await, 0);
    }
    assert_eq!(store.finish(&ends).await.unwrap(), NONE, "once");
}

pub(crate) async fn an_attempt_counts_as_it_was_told(world: &World) {
    let store = world.store().await;
    let id = enqueue_due(&*store, "task", 1).await[0];
    let mut counted = Vec::new();
    for counts in [
        Counts::Attempt,
        Counts::Refusal,
        Counts::Nothing,
        Counts::Refusal,
        Counts::Attempt,
    ] {
        let claim = claim_one(&*store, "task", LONG).await;
        assert_eq!(claim.key.job, id);
        counted.push((claim.attempt, claim.refusals));
        let again = Then::Again(Duration::ZERO, counts);
        let job = finished(&*store, &claim.key, again).await;
        assert_eq!(job.state, JobState::Ready);
        assert_eq!(job.last_outcome.as_deref(), Some("ended"));
        let attempts = claim.attempt - u32::from(counts != Counts::Attempt);
        let refusals = claim.refusals + u32::from(counts == Counts::Refusal);
        assert_eq!((job.attempt, job.refusals), (attempts, refusals));
    }
    assert_eq!(counted, [(1, 0), (2, 0), (2, 1), (2, 1), (2, 2)]);
    // A crash is one of the attempts, and stays so.
    let crashed = claim_one(&*store, "task", crate::steps::SHORT).await;
    expired(&*store, crashed.key.job).await;
    let claim = taken_over(&*store, "task", LONG).await;
    assert_eq!((claim.attempt, claim.crashes, claim.refusals), (4, 1, 2));
    let again = Then::Again(Duration::ZERO, Counts::Nothing);
    let job = finished(&*store, &claim.key, again).await;
    assert_eq!((job.attempt, job.crashes, job.refusals), (3, 1, 2));
}

pub(crate) async fn the_same_work_again_after_a_while(world: &World) {
    let store = world.store().await;
    let claim = started(&*store, "task", 9 * LONG).await;
    let now = store.now().await.unwrap();
    let again = Then::Again(2 * LONG, Counts::Attempt);
    let job = finished(&*store, &claim.key, again).await;
    about(job.due_at, now + 2 * SECOND, 2 * LONG);
    assert_about(claim_none(&*store).await, 2 * LONG);
}

async fn cancelled_run(store: &dyn Store) -> tasklock_runtime::store::Claim {
    let claim = started(store, "task", LONG).await;
    let cancelled = store.cancel(claim.key.job).await.unwrap();
    assert_eq!(cancelled, Some(Cancelled::Soon));
    claim
}

/// A job that ended as cancelled is listed, and is pruned one day.
async fn assert_cancelled(world: &World, store: &dyn Store, id: i64) {
    let job = job(store, id).await;
    assert_eq!(job.state, JobState::Cancelled);
    assert!(job.cancelled_at.is_some());
    assert!(job.finished_at >= job.cancelled_at, "{:?}", job.finished_at);
    assert_eq!((job.worker, job.lock_until), (None, None));
    let query = JobQuery {
        task: None,
        states: vec![JobState::Cancelled],
        before: id + 1,
        limit: 1,
    };
    let listed = store.jobs(&query).await.unwrap();
    assert_eq!(listed.first().map(|job| job.id), Some(id));
    if let Some(mut sql) = world.sql().await {
        let kept =
            format!("SELECT count(*) FROM tasklock_job WHERE id = {id} AND prune_at > finished_at");
        assert_eq!(sql.number(&kept).await, 1);
    }
    assert_eq!(claim_none(store).await, None);
}

pub(crate) async fn a_cancelled_run_is_not_done_again(world: &World) {
    let store = world.store().await;
    for counts in [Counts::Attempt, Counts::Nothing, Counts::Refusal] {
        for hold in [None, Some(2 * LONG)] {
            let claim = cancelled_run(&*store).await;
            let again = Finish {
                hold,
                ..then(&claim.key, Then::Again(Duration::ZERO, counts))
            };
            finish(&*store, again).await;
            assert_cancelled(world, &*store, claim.key.job).await;
        }
    }
}

pub(crate) async fn a_cancelled_run_that_is_given_back_is_cancelled(world: &World) {
    let store = world.store().await;
    let claim = cancelled_run(&*store).await;
    store
        .release(std::slice::from_ref(&claim.key))
        .await
        .unwrap();
    assert_cancelled(world, &*store, claim.key.job).await;
    let claim = cancelled_run(&*store).await;
    let mut renewer = crate::steps::renewer(&*store).await;
    renewer
        .release(std::slice::from_ref(&claim.key))
        .await
        .unwrap();
    assert_cancelled(world, &*store, claim.key.job).await;
    let claim = cancelled_run(&*store).await;
    assert_eq!(store.abandon(&claim.key.owner).await.unwrap(), 1);
    assert_cancelled(world, &*store, claim.key.job).await;
}

pub(crate) async fn a_cancelled_run_may_still_end_otherwise(world: &World) {
    let store = world.store().await;
    for (end, state) in [
        (Then::Done(Some(LONG)), JobState::Done),
        (Then::Dead(LONG), JobState::Dead),
    ] {
        let claim = cancelled_run(&*store).await;
        let ended = finished(&*store, &claim.key, end).await;
        assert_eq!(ended.state, state);
    }
    let claim = cancelled_run(&*store).await;
    finish(&*store, then(&claim.key, Then::Cancelled(LONG))).await;
    assert_cancelled(world, &*store, claim.key.job).await;
}

pub(crate) async fn a_standing_job_never_ends(world: &World) {
    let store = world.store().await;
    let claim = held(&*store, "task", LONG).await;
    assert!(claim.standing && claim.payload.is_none());
    let again = Then::Again(Duration::ZERO, Counts::Attempt);
    let waiting = finished(&*store, &claim.key, again).await;
    assert!(waiting.is_standing && waiting.unique_key.is_none());
    let claim = claim_one(&*store, "task", LONG).await;
    assert_eq!(claim.attempt, 2);
    // An end of its slot.
    finish(&*store, end(&claim.key, Next::In(LONG))).await;
    let found = standing(&*store, "task").await;
    assert_eq!((found.attempt, found.running), (0, false));
    assert_about(claim_none(&*store).await, LONG);
    assert_eq!(
        store.cancel(claim.key.job).await.unwrap(),
        Some(Cancelled::Standing)
    );
}

pub(crate) async fn a_hold_delays_the_next_run(world: &World) {
    let store = world.store().await;
    let hold = Some(10 * LONG);
    for next in [
        Then::Slot(Next::at(1)),
        Then::Slot(Next::In(Duration::ZERO)),
        Then::Slot(Next::In(LONG)),
        Then::Again(LONG, Counts::Attempt),
    ] {
        let task = format!("{next:?}");
        let claim = held(&*store, &task, LONG).await;
        let now = store.now().await.unwrap();
        let end = Finish {
            hold,
            ..then(&claim.key, next)
        };
        finish(&*store, end.clone()).await;
        let due = job(&*store, claim.key.job).await.due_at;
        about(due, now, 10 * LONG);
        // Nor does anybody else start it before.
        store.trigger(&task).await.unwrap();
        about(job(&*store, claim.key.job).await.due_at, now, 10 * LONG);
        store.retry(claim.key.job).await.unwrap();
        about(job(&*store, claim.key.job).await.due_at, now, 10 * LONG);
        let mut changed = crate::steps::task(&task, None);
        (changed.schedule, changed.if_changed) = ("every 2m".to_owned(), Next::at(7));
        store.declare(std::slice::from_ref(&changed)).await.unwrap();
        about(job(&*store, claim.key.job).await.due_at, now, 10 * LONG);
        (changed.schedule, changed.if_changed) = ("on demand".to_owned(), Next::Dormant);
        store.declare(&[changed]).await.unwrap();
        assert_eq!(job(&*store, claim.key.job).await.due_at, None);
    }
    // A later slot stays where it is.
    let claim = held(&*store, "later", LONG).await;
    let later = store.now().await.unwrap() + 3_600 * SECOND;
    let end = Finish {
        hold,
        ..then(&claim.key, Then::Slot(Next::at(later)))
    };
    finish(&*store, end).await;
    let due = job(&*store, claim.key.job).await.due_at.unwrap();
    assert_eq!(due.as_microsecond(), later);
    // A dormant job stays so.
    let claim = held(&*store, "dormant", LONG).await;
    let end = Finish {
        hold,
        ..then(&claim.key, Then::Slot(Next::Dormant))
    };
    finish(&*store, end).await;
    assert_eq!(job(&*store, claim.key.job).await.due_at, None);
}

/// A batch of all kinds of ends, for jobs of both kinds.
pub(crate) async fn one_call_may_hold_every_end(world: &World) {
    let store = world.store().await;
    declare_due(&*store, &["standing"]).await;
    let jobs = vec![new("task"); 8];
    let ids = store.enqueue(&jobs).await.unwrap();
    assert!(ids.iter().copied().all(Enqueued::is_new));
    let mut claims = claim(&*store, &["task", "standing"], LONG, 99).await.claims;
    claims.sort_by_key(|claim| claim.standing);
    assert_eq!(claims.len(), 9);
    let mut ends: Vec<_> = (claims.iter().enumerate())
        .map(
            |(nth, claim)| match crate::steps::ends(&claim.key).get(nth) {
                Some(end) => end.clone(),
                None => end(&claim.key, Next::Dormant),
            },
        )
        .collect();
    ends.reverse();
    assert_eq!(store.finish(&ends).await.unwrap().len(), 9);
    let mut states = Vec::new();
    for claim in &claims {
        states.push(store.job(claim.key.job).await.unwrap().map(|job| job.state));
    }
    use JobState::{Cancelled, Dead, Done, Ready};
    let expected = [
        Some(Done),
        Some(Ready),
        Some(Ready),
        Some(Ready),
        None,
        Some(Done),
        Some(Dead),
        Some(Cancelled),
        Some(Ready),
    ];
    assert_eq!(states, expected);
}
