//! Which of the due rows come first: those of the least rank, which is the due time less a second for each
//! point of the priority.

use std::time::Duration;

use tasklock_runtime::store::{Due, NewJob, Store};

use crate::steps::{LONG, SECOND, assert_about, claim, new};
use crate::world::World;

fn job(task: &str, priority: i16, due: i64) -> NewJob {
    NewJob {
        priority,
        due: Due::At(due),
        ..new(task)
    }
}

/// Claims one by one; answers the places of the jobs in the order in which they were taken.
async fn order<T: AsRef<str>>(store: &dyn Store, tasks: &[T], jobs: &[NewJob]) -> Vec<usize> {
    let ids = store.enqueue(jobs).await.unwrap();
    let mut order = Vec::new();
    while let Some(claim) = claim(store, tasks, LONG, 1).await.claims.pop() {
        let nth = ids.iter().position(|job| job.id() == claim.key.job);
        order.push(nth.unwrap());
    }
    order
}

pub(crate) async fn a_point_is_a_second_ahead(world: &World) {
    let store = world.store().await;
    let at = |seconds: i64| 1_000 * SECOND + seconds * SECOND;
    let jobs = [
        job("a", 0, at(10)),
        job("a", 5, at(12)),
        job("a", -5, at(4)),
        job("a", 32_767, at(32_770)),
        job("a", -32_768, at(-32_750)),
        job("a", 5, at(13)),
        job("a", 0, at(6)),
    ];
    // Ranks: 10, 7, 9, 3, 18, 8, 6.
    assert_eq!(order(&*store, &["a"], &jobs).await, [3, 6, 1, 5, 2, 0, 4]);
}

pub(crate) async fn over_all_tasks(world: &World) {
    let store = world.store().await;
    let at = |seconds: i64| 1_000 * SECOND + seconds * SECOND;
    let jobs = [
        job("a", 0, at(10)),
        job("b", 1, at(10)),
        job("c", -1, at(10)),
        job("b", -3, at(10)),
        job("c", 3, at(10)),
        job("a", 2, at(10)),
        job("not asked for", 99, at(1)),
    ];
    let taken = order(&*store, &["a", "b", "c"], &jobs).await;
    assert_eq!(taken, [4, 5, 1, 0, 2, 3]);
}

/// Nothing waits for ever: an old job comes before a new one of a higher priority.
pub(crate) async fn an_old_job_comes_before_a_new_one(world: &World) {
    let store = world.store().await;
    let now = store.now().await.unwrap();
    let jobs = [
        job("task", 10, now - 20 * SECOND),
        job("task", 0, now - 31 * SECOND),
        job("task", 10, now - 22 * SECOND),
    ];
    assert_eq!(order(&*store, &["task"], &jobs).await, [2, 1, 0]);
}

pub(crate) async fn many_priorities(world: &World) {
    let store = world.store().await;
    let jobs: Vec<_> = (0..300_i64)
        .map(|nth| {
            let priority = i16::try_from(nth * 37 % 150 - 75).unwrap();
            job("task", priority, 1_000 * SECOND + nth)
        })
        .collect();
    let ids = store.enqueue(&jobs).await.unwrap();
    let rank = |nth: usize| {
        let Due::At(due) = jobs[nth].due else {
            unreachable!()
        };
        due - i64::from(jobs[nth].priority) * SECOND
    };
    let mut expected: Vec<_> = (0..jobs.len()).collect();
    expected.sort_by_key(|nth| rank(*nth));
    for chunk in expected.chunks(23) {
        let batch = claim(&*store, &["task"], LONG, 23).await;
        let mut taken: Vec<_> = batch.claims.iter().map(|claim| claim.key.job).collect();
        let mut expected: Vec<_> = chunk.iter().map(|nth| ids[*nth].id()).collect();
        taken.sort_unstable();
        expected.sort_unstable();
        assert_eq!(taken, expected);
    }
}

pub(crate) async fn what_is_not_due_is_not_in_the_way(world: &World) {
    let store = world.store().await;
    let now = store.now().await.unwrap();
    let mut jobs: Vec<_> = (0..50)
        .map(|nth| job("task", 1_000, now + (3_600 + nth) * SECOND))
        .collect();
    jobs.push(job("task", -1_000, now - SECOND));
    jobs.push(job("task", -7, now + 600 * SECOND));
    jobs.push(job("other", 7, now - SECOND));
    let ids = store.enqueue(&jobs).await.unwrap();
    let batch = claim(&*store, &["task", "other"], 60 * LONG, 5).await;
    let mut taken: Vec<_> = batch.claims.iter().map(|claim| claim.key.job).collect();
    taken.sort_unstable();
    assert_eq!(taken, [ids[50].id(), ids[52].id()]);
    // The next one is of the lowest priority that is left.
    assert_about(batch.wait, Duration::from_secs(600));
    let wait = claim(&*store, &["task"], LONG, 5).await.wait.unwrap();
    assert!(wait > Duration::from_secs(550), "{wait:?}");
}

pub(crate) async fn no_time_if_rows_of_any_priority_were_left_behind(world: &World) {
    let store = world.store().await;
    let jobs = [
        job("task", 5, SECOND),
        job("task", 0, 9 * SECOND),
        job("task", -5, 99 * SECOND),
    ];
    store.enqueue(&jobs).await.unwrap();
    for left in [true, true, false] {
        let batch = claim(&*store, &["task"], LONG, 1).await;
        assert_eq!(batch.claims.len(), 1);
        assert_eq!(batch.wait == Some(Duration::ZERO), left, "{batch:?}");
    }
}
