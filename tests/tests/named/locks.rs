//! Named leases that a run takes: `lease.lock(name)`.

use std::sync::Arc;
use std::time::Duration;

use tasklock_runtime::{
    Client, CommitError, LeaseContext, LeaseGuard, LeaseLost, LockError, Runtime, ShutdownHandle,
    State, locked_task,
};
use tasklock_test_support::wait::eventually_async;
use tasklock_tests::stage::Place;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

use crate::{BOUND, client, connected, free_again, held, is_free};

/// What a run hands to its test, and waits for.
#[derive(Clone)]
struct Test {
    locked: mpsc::UnboundedSender<(LeaseContext, Result<LeaseGuard, LockError>)>,
    goes_on: Arc<Notify>,
}

#[locked_task(ttl = "2s", on_lost = "signal")]
async fn locks(lease: LeaseContext, test: State<Test>) {
    let locked = lease.lock("tenant:42").await;
    let _ = test.locked.send((lease, locked));
    test.goes_on.notified().await;
}

struct Running {
    client: Client,
    locked: mpsc::UnboundedReceiver<(LeaseContext, Result<LeaseGuard, LockError>)>,
    goes_on: Arc<Notify>,
    shutdown: ShutdownHandle,
    runtime: JoinHandle<Result<(), tasklock_runtime::Error>>,
}

impl Running {
    async fn start(place: &Place) -> Self {
        let (sender, locked) = mpsc::unbounded_channel();
        let goes_on = Arc::new(Notify::new());
        let runtime = Runtime::builder()
            .database_url(place.url())
            .state(Test {
                locked: sender,
                goes_on: Arc::clone(&goes_on),
            })
            .only(["locks"])
            .handle_signals(false)
            .build()
            .await
            .expect("the database is there");
        let (client, shutdown) = (runtime.client(), runtime.shutdown_handle());
        Self {
            client,
            locked,
            goes_on,
            shutdown,
            runtime: tokio::spawn(runtime.run()),
        }
    }

    async fn locked(&mut self) -> (LeaseContext, Result<LeaseGuard, LockError>) {
        locks::trigger(&self.client).await.expect("it is declared");
        let locked = tokio::time::timeout(BOUND, self.locked.recv()).await;
        locked.expect("within the bound").expect("it runs")
    }

    async fn stop(self) {
        self.goes_on.notify_one();
        self.shutdown.shutdown();
        let stopped = self.runtime.await.expect("it does not panic");
        stopped.expect("it stops");
    }
}

pub(crate) async fn a_lock_of_a_run_ends_with_it(place: Place) {
    let mut running = Running::start(&place).await;
    let (lease, guard) = running.locked().await;
    let guard = guard.expect("it is free");
    assert_eq!((guard.task(), guard.check()), ("tenant:42", Ok(())));
    assert!(!is_free(&running.client, "tenant:42").await);
    // For longer than its ttl.
    let end = tokio::time::Instant::now() + Duration::from_secs(3);
    eventually_async(BOUND, async || {
        (tokio::time::Instant::now() >= end).then_some(())
    })
    .await;
    assert_eq!((lease.check(), guard.check()), (Ok(()), Ok(())));
    running.goes_on.notify_one();
    assert_eq!(guard.lost().await, LeaseLost::Released);
    assert_eq!(lease.check(), Err(LeaseLost::Released));
    drop(guard);
    free_again(&running.client, "tenant:42").await;
    running.stop().await;
}

/// Writes a row under a guard.
pub(crate) async fn book(place: &Place, guard: &LeaseContext) -> Result<(), CommitError> {
    let write = "INSERT INTO effect VALUES (1)";
    match place {
        Place::Postgres(_) => {
            let pool = sqlx::PgPool::connect(&place.url())
                .await
                .expect("it is there");
            let mut tx = pool.begin().await.expect("it is there");
            sqlx::query(write)
                .execute(&mut *tx)
                .await
                .expect("it writes");
            guard.commit(tx).await
        }
        Place::Sqlite(_) => {
            let pool = sqlx::SqlitePool::connect(&place.url())
                .await
                .expect("it is there");
            let begin = pool.begin_with("BEGIN IMMEDIATE").await;
            let mut tx = begin.expect("it is there");
            sqlx::query(write)
                .execute(&mut *tx)
                .await
                .expect("it writes");
            guard.commit(tx).await
        }
    }
}

pub(crate) async fn a_lock_commits_while_both_are_held(place: Place) {
    let mut running = Running::start(&place).await;
    place.run("CREATE TABLE effect (fence bigint)").await;
    let (lease, guard) = running.locked().await;
    let guard = guard.expect("it is free");
    book(&place, &guard).await.expect("both are held");
    // Somebody takes the job, behind the back of the run.
    place
        .run("UPDATE tasklock_job SET fence = fence + 1, lock_owner = 'a thief' WHERE task = 'locks'")
        .await;
    let refused = book(&place, &guard).await;
    assert!(matches!(refused, Err(CommitError::Lost(_))), "{refused:?}");
    let refused = book(&place, &lease).await;
    assert!(matches!(refused, Err(CommitError::Lost(_))), "{refused:?}");
    assert_eq!(guard.check(), lease.check());
    let rows = place.run("SELECT count(*) FROM effect").await;
    assert_eq!(rows[0][0].as_deref(), Some("1"));
    drop(guard);
    running.stop().await;
}

pub(crate) async fn a_lock_is_waited_for_while_the_run_lasts(place: Place) {
    let other = client(&place).await;
    let holder = held(&other, "tenant:42").await;
    let mut running = Running::start(&place).await;
    locks::trigger(&running.client)
        .await
        .expect("it is declared");
    let waits = async || {
        let rows = place.run("SELECT count(*) FROM tasklock_waiter").await;
        (rows[0][0].as_deref() == Some("1")).then_some(())
    };
    eventually_async(BOUND, waits).await;
    place
        .run("UPDATE tasklock_job SET fence = fence + 1, lock_owner = 'a thief' WHERE task = 'locks'")
        .await;
    let locked = tokio::time::timeout(BOUND, running.locked.recv()).await;
    let (lease, locked) = locked.expect("within the bound").expect("it runs");
    assert!(
        matches!(locked, Err(LockError::Lost(LeaseLost::TakenOver))),
        "{locked:?}"
    );
    assert_eq!(lease.check(), Err(LeaseLost::TakenOver));
    assert_eq!(holder.check(), Ok(()));
    drop(holder);
    // Its place in the line has gone with it.
    free_again(&connected(&place).await, "tenant:42").await;
    running.stop().await;
}
