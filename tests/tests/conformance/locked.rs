//! What waits on MariaDB and what does not.

use std::sync::Arc;

use tasklock_runtime::store::{Acquired, Due, LEASES, NewJob};
use tokio::time::timeout;

use crate::named::acquire;
use crate::steps::{
    BOUND, LONG, at_once, claim, enqueue, enqueue_due, held, limited, new, renewal, renewer,
};
use crate::world::World;

const BEGIN: &str = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION";

/// A prune waits for somebody in the line, after it has deleted side rows.
pub(crate) async fn a_renewal_does_not_wait_for_a_prune_that_waits(world: &World) {
    let store = world.store().await;
    let (mut sql, mut locker) = (world.sql().await.unwrap(), world.sql().await.unwrap());
    let run = held(&*store, "task", LONG).await;
    let stray = format!(
        "INSERT INTO tasklock_heartbeat (job_id, fence, lock_until) VALUES ({}, 0, 1);
         INSERT INTO tasklock_waiter (name, ticket, alive_until) VALUES ('a', 'b', 1)",
        run.key.job
    );
    sql.execute(&stray).await;
    let lock = format!("{BEGIN}; SELECT * FROM tasklock_waiter FOR UPDATE");
    locker.execute(&lock).await;
    let pruning = tokio::spawn({
        let store = Arc::clone(&store);
        async move { store.prune(9).await }
    });
    world.waiting(&mut sql, 1).await;
    let mut renewer = renewer(&*store).await;
    let renewed = at_once(renewer.renew(&[renewal(&run.key, LONG)])).await;
    assert_eq!(renewed.unwrap(), [run.key.job]);
    locker.execute("COMMIT").await;
    let pruned = timeout(BOUND, pruning).await.expect("it goes on");
    assert_eq!(pruned.unwrap().unwrap(), 0);
    assert_eq!(sql.number("SELECT COUNT(*) FROM tasklock_waiter").await, 0);
}

/// And none waits for a number that another one has just drawn.
pub(crate) async fn drawn_numbers_leave_no_rows(world: &World) {
    let store = world.store().await;
    let (mut sql, mut other) = (world.sql().await.unwrap(), world.sql().await.unwrap());
    let draw = format!("{BEGIN}; INSERT INTO tasklock_lease_fence VALUES (NULL)");
    other.execute(&draw).await;
    let mut last = 0;
    for name in ["a", "b", "c"] {
        let acquired = at_once(acquire(&*store, name, LONG)).await;
        let Acquired::Granted(key) = acquired else {
            panic!("{acquired:?}");
        };
        assert!(key.fence > last);
        last = key.fence;
        store.release(&[key]).await.unwrap();
    }
    other.execute("ROLLBACK").await;
    let left = "SELECT COUNT(*) FROM tasklock_lease_fence";
    assert_eq!(sql.number(left).await, 0);
}

pub(crate) async fn a_task_that_another_claim_counts_is_not_waited_for(world: &World) {
    let store = world.store().await;
    enqueue_due(&*store, "task", 3).await;
    let first = store.claim(&limited("task", LONG, 2, 1)).await.unwrap();
    assert_eq!(first.claims.len(), 1);
    let mut counting = world.sql().await.unwrap();
    let lock = format!("{BEGIN}; SELECT * FROM tasklock_limited WHERE task = 'task' FOR UPDATE");
    counting.execute(&lock).await;
    // One that does not know yet that the task has a row.
    let second = world.store().await;
    let looked = at_once(second.claim(&limited("task", LONG, 2, 9))).await;
    assert_eq!(looked.unwrap().claims, []);
    counting.execute("COMMIT").await;
    let looked = second.claim(&limited("task", LONG, 2, 9)).await.unwrap();
    assert_eq!(looked.claims.len(), 1);
}

/// A claim that waits for its job's resource, of which somebody makes the row.
pub(crate) async fn what_is_not_due_is_not_locked_by_a_claim(world: &World) {
    let store = world.store().await;
    let (mut sql, mut maker) = (world.sql().await.unwrap(), world.sql().await.unwrap());
    let later = NewJob {
        due: Due::In(LONG),
        ..new("task")
    };
    let later = enqueue(&*store, later).await.id();
    let due = NewJob {
        resource: Some("name".to_owned()),
        ..new("task")
    };
    let due = enqueue(&*store, due).await.id();
    let make = format!(
        "{BEGIN}; INSERT INTO tasklock_job (task, unique_key, state) VALUES ('{LEASES}', 'name', 'ready')"
    );
    maker.execute(&make).await;
    let claiming = tokio::spawn({
        let store = Arc::clone(&store);
        async move { claim(&*store, &["task"], LONG, 9).await }
    });
    world.waiting(&mut sql, 1).await;
    at_once(store.cancel(later)).await.unwrap();
    maker.execute("ROLLBACK").await;
    let claimed = timeout(BOUND, claiming).await.expect("it goes on").unwrap();
    let claimed: Vec<i64> = claimed.claims.iter().map(|claim| claim.key.job).collect();
    assert_eq!(claimed, [due]);
}
