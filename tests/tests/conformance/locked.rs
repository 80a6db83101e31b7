//! What waits on MariaDB and what does not, and what its sessions and triggers show.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sqlx::{Connection, Executor};
use tasklock_runtime::store::{Acquired, Due, Guarded, LEASES, NewJob, Wake};
use tasklock_runtime::{CommitError, Error, Next, StoreErrorKind};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::block_in_place;
use tokio::time::timeout;

use crate::guard::{MYSQL, NOTHING, application};
use crate::named::acquire;
use crate::steps::{
    BOUND, LONG, SHORT, at_once, claim, end, enqueue, enqueue_due, held, limited, new, renewal,
    renewer, taken_over,
};
use crate::world::{Sql, World};

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

/// Who makes a name waits for another one who makes it. Nobody waits with him for the next id; only who writes in the gap before
/// that name, which this task is not in.
pub(crate) async fn nobody_waits_with_who_makes_a_name(world: &World) {
    let store = world.store().await;
    let (mut sql, mut maker) = (world.sql().await.unwrap(), world.sql().await.unwrap());
    let make = format!(
        "{BEGIN}; INSERT INTO tasklock_job (task, unique_key, state) VALUES ('{LEASES}', 'name', 'ready')"
    );
    maker.execute(&make).await;
    let acquiring = tokio::spawn({
        let store = Arc::clone(&store);
        async move { acquire(&*store, "name", LONG).await }
    });
    world.waiting(&mut sql, 1).await;
    assert!(at_once(enqueue(&*store, new("zone"))).await.is_new());
    maker.execute("ROLLBACK").await;
    let acquired = timeout(BOUND, acquiring).await.expect("it goes on");
    assert!(matches!(acquired.unwrap(), Acquired::Granted(_)));
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

/// A trigger tells what the session has while the guard holds.
pub(crate) async fn a_shorter_time_out_of_the_session_stays(world: &World) {
    let mut sql = application(world).await.unwrap();
    let store = world.store().await;
    sql.execute("CREATE TABLE bound (seconds bigint)").await;
    sql.execute(
        "CREATE TRIGGER ends AFTER UPDATE ON tasklock_job FOR EACH ROW
         INSERT INTO bound VALUES (@@SESSION.idle_transaction_timeout)",
    )
    .await;
    let ttl = i64::try_from(LONG.as_secs()).unwrap();
    for (own, bound) in [(7, 7), (0, ttl), (ttl + 17, ttl)] {
        let run = held(&*store, &format!("task {own}"), LONG).await;
        sql.execute("DELETE FROM bound").await;
        sql.execute(&format!("SET SESSION idle_transaction_timeout = {own}"))
            .await;
        let anchor = store.anchor(end(&run.key, Next::Dormant), LONG);
        let committed = sql.effect(MYSQL[0], &*anchor, true, NOTHING).await;
        assert!(committed.is_ok(), "{committed:?}");
        assert_eq!(sql.number("SELECT seconds FROM bound").await, bound);
        let after = "SELECT CAST(@@SESSION.idle_transaction_timeout AS SIGNED)";
        assert_eq!(sql.number(after).await, own);
    }
}

pub(crate) async fn a_nested_transactions_guard_ends_its_savepoint_alone(world: &World) {
    let Some(Sql::MySql(mut connection)) = application(world).await else {
        panic!("it is MariaDB's");
    };
    let store = world.store().await;
    let lost = held(&*store, "lost", SHORT).await;
    taken_over(&*store, "lost", LONG).await;
    let run = held(&*store, "task", LONG).await;
    let write = "INSERT INTO effect VALUES (1)";
    for (lease, commits, effects) in [(&run, true, 2), (&run, false, 0), (&lost, true, 1)] {
        let anchor = store.anchor(end(&lease.key, Next::Dormant), LONG);
        let mut outer = connection.begin().await.unwrap();
        outer.execute(write).await.unwrap();
        let mut inner = outer.begin().await.unwrap();
        inner.execute(write).await.unwrap();
        let committed = inner.commit_under(&[&*anchor], false, &|| Ok(())).await;
        match committed {
            Ok(()) => assert_eq!(lease.key, run.key),
            Err(CommitError::Lost(_)) => assert_eq!(lease.key, lost.key),
            other => panic!("{other:?}"),
        }
        if commits {
            outer.commit().await.unwrap();
        } else {
            outer.rollback().await.unwrap();
        }
        let count = "SELECT COUNT(*) FROM effect";
        let count: i64 = sqlx::query_scalar(count)
            .fetch_one(&mut connection)
            .await
            .unwrap();
        assert_eq!(count, effects);
        connection.execute("DELETE FROM effect").await.unwrap();
    }
}

/// The error of a server with such a log, from a trigger.
pub(crate) async fn a_binary_log_of_statements_is_told(world: &World) {
    let store = world.store().await;
    let mut sql = world.sql().await.unwrap();
    sql.execute(
        "CREATE TRIGGER refuses BEFORE INSERT ON tasklock_job FOR EACH ROW
         SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1665, MESSAGE_TEXT = 'cannot be logged'",
    )
    .await;
    let error = store.enqueue(&[new("task")]).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::NotWritable, "{error}");
    assert!(Error::from(error).to_string().contains("binlog_format"));
}

/// By this process, before it waits for the next.
pub(crate) async fn what_is_written_during_a_wake_up_is_heard(world: &World) {
    let store = world.store().await;
    let (sender, mut wakes) = mpsc::unbounded_channel();
    let watching = store.watch(Box::new({
        let (store, first) = (Arc::clone(&store), AtomicBool::new(true));
        move |wake| {
            if first.swap(false, Ordering::Relaxed) {
                let enqueued =
                    block_in_place(|| Handle::current().block_on(store.enqueue(&[new("task")])));
                enqueued.unwrap();
            }
            let _ = sender.send(wake);
        }
    }));
    let watching = tokio::spawn(watching);
    enqueue(&*store, new("task")).await;
    for _ in 0..2 {
        let wake = timeout(BOUND, wakes.recv()).await.expect("it wakes");
        assert_eq!(wake, Some(Wake::Work));
    }
    watching.abort();
}
