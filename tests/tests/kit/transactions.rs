//! Real transactions under leases that no database holds.

use sqlx::SqlitePool;
use sqlx::sqlite::SqliteConnectOptions;
use tasklock_runtime::testing::{TestLease, TestRuntime};
use tasklock_runtime::{
    CommitError, JobState, LeaseContext, LeaseLost, Outcome, Payload, State, TaskResult,
    locked_task,
};
use tasklock_test_support::sqlite::{self, File};

#[locked_task(retries = 0)]
async fn writes(lease: LeaseContext, number: Payload<i64>, pool: State<SqlitePool>) -> TaskResult {
    let mut tx = pool.begin_with("BEGIN IMMEDIATE").await?;
    let insert = sqlx::query("INSERT INTO effect VALUES ($1)").bind(*number);
    insert.execute(&mut *tx).await?;
    if *number % 2 == 0 {
        lease.complete_in(tx).await?;
        return Err("too late to matter".into());
    }
    lease.commit(tx).await?;
    Ok(())
}

async fn effects() -> (File, SqlitePool) {
    let file = sqlite::file();
    let options = SqliteConnectOptions::new()
        .filename(file.path())
        .create_if_missing(true);
    let pool = SqlitePool::connect_with(options).await;
    let pool = pool.expect("the folder can be written");
    let created = sqlx::query("CREATE TABLE effect (number bigint)").execute(&pool);
    created.await.expect("it is new");
    (file, pool)
}

async fn written(pool: &SqlitePool) -> Vec<i64> {
    let numbers = sqlx::query_scalar("SELECT number FROM effect ORDER BY number").fetch_all(pool);
    numbers.await.expect("it is there")
}

#[tokio::test]
async fn a_handler_commits_while_the_test_lets_it_have_its_lease() {
    let (_file, pool) = effects().await;
    let state = State::new(pool.clone());
    let lease = TestLease::new("writes");
    let ended = writes(lease.context(), Payload(1), state.clone()).await;
    assert!(ended.is_ok(), "{ended:?}");
    let ended = writes(lease.context(), Payload(2), state.clone()).await;
    assert!(ended.is_err_and(|error| error.to_string() == "too late to matter"));

    // `complete_in` has ended the lease, as it does in production.
    let lost = |ended: TaskResult| match ended.map_err(|error| error.downcast::<CommitError>()) {
        Err(Ok(error)) => match *error {
            CommitError::Lost(lost) => Some(lost),
            _ => None,
        },
        _ => None,
    };
    let ended = writes(lease.context(), Payload(3), state.clone()).await;
    assert_eq!(lost(ended), Some(LeaseLost::Released));

    let lease = TestLease::new("writes");
    lease.lose(LeaseLost::TakenOver);
    let ended = writes(lease.context(), Payload(5), state).await;
    assert_eq!(lost(ended), Some(LeaseLost::TakenOver));
    assert_eq!(written(&pool).await, [1, 2]);
}

#[tokio::test]
async fn a_task_commits_and_completes_in_the_test_runtime() {
    let (_file, pool) = effects().await;
    let rt = TestRuntime::builder()
        .only([writes::NAME])
        .state(pool.clone())
        .build()
        .await
        .expect("it is linked");
    let jobs = writes::enqueue_many(&rt.client(), [1, 2]).await;
    let ran = rt.run_due().await;
    assert_eq!(ran.len(), 2);
    for job in jobs.expect("memory takes them") {
        let ended = ran.iter().find(|ran| ran.job == job.id());
        let outcome = ended.map(|ran| &ran.outcome);
        assert_eq!(outcome, Some(&Outcome::Succeeded));
        let job = rt.client().job(job.id()).await.expect("memory answers");
        assert_eq!(job.map(|job| job.state), Some(JobState::Done));
    }
    assert_eq!(written(&pool).await, [1, 2]);
}
