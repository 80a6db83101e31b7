//! What waits on MariaDB and what does not.

use std::sync::Arc;

use tasklock_runtime::store::Acquired;
use tokio::time::timeout;

use crate::named::acquire;
use crate::steps::{BOUND, LONG, at_once, held, renewal, renewer};
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
