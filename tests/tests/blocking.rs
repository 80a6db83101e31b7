//! A handler that is a plain function, on both kinds of tokio runtime: it renews, commits and completes
//! from its own thread, over real connections, whose sockets and timers the runtime drives.

use std::time::Duration;

use sqlx::{Connection, PgConnection, SqliteConnection};
use tasklock_runtime::__private::{
    Definition, IntoOutcome, Location, Registration, RunFuture, RunParts, blocking, inventory,
};
use tasklock_runtime::{LeaseContext, Runtime, TaskResult};
use tasklock_test_support::{postgres, sqlite};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

const BOUND: Duration = Duration::from_secs(20);

/// Where the effects are.
struct Url(String);

/// How the handler has ended, for the test.
struct Ends(mpsc::UnboundedSender<Result<(), String>>);

macro_rules! plain_function {
    ($name:literal, $run:ident, $work:ident, $connection:ty) => {
        fn $run(run: RunParts) -> RunFuture {
            Box::pin(blocking(move || {
                let url = run.state::<Url>().expect("the test gives it");
                let ends = run.state::<Ends>().expect("the test gives it");
                let worked = $work(run.lease(), &url.0);
                let told = worked.as_ref().map(|()| ()).map_err(ToString::to_string);
                let _ = ends.0.send(told);
                worked.into_outcome()
            }))
        }

        fn $work(lease: &LeaseContext, url: &str) -> TaskResult {
            let runtime = Handle::current();
            lease.blocking_renew()?;
            let mut connection = runtime.block_on(<$connection>::connect(url))?;
            for (number, last) in [(1, false), (2, true)] {
                let tx = runtime.block_on(async {
                    let mut tx = connection.begin().await?;
                    sqlx::query("INSERT INTO effect VALUES ($1)")
                        .bind(number)
                        .execute(&mut *tx)
                        .await?;
                    Ok::<_, sqlx::Error>(tx)
                })?;
                if last {
                    lease.blocking_complete_in(tx)?;
                } else {
                    lease.blocking_commit(tx)?;
                }
            }
            // The lease has ended with the job.
            lease.blocking_lost();
            match lease.blocking_renew() {
                Ok(()) => Err("renewed after its end".into()),
                Err(_) => Ok(()),
            }
        }

        inventory::submit! {
            Registration::new(
                Definition::new($name).blocking(),
                Location::new(module_path!(), file!(), line!()),
                $run,
                |needs| {
                    needs.state::<Url>();
                    needs.state::<Ends>();
                },
            )
        }
    };
}

plain_function!("on_sqlite", run_on_sqlite, work_on_sqlite, SqliteConnection);
plain_function!(
    "on_postgres",
    run_on_postgres,
    work_on_postgres,
    PgConnection
);

async fn a_blocking_handler_commits_and_completes(task: &str, url: &str) {
    let (ends, mut ended) = mpsc::unbounded_channel();
    let runtime = Runtime::builder()
        .database_url(url)
        .only([task])
        .state(Url(url.to_owned()))
        .state(Ends(ends))
        .handle_signals(false)
        .build()
        .await
        .expect("the database is there");
    let (client, shutdown) = (runtime.client(), runtime.shutdown_handle());
    let test = async {
        client.trigger(task).await.expect("it was declared");
        let end = tokio::time::timeout(BOUND, ended.recv()).await;
        shutdown.shutdown();
        end.expect("within the bound")
    };
    let (stopped, end) = tokio::join!(runtime.run(), test);
    assert_eq!(end, Some(Ok(())));
    assert!(stopped.is_ok(), "{stopped:?}");
}

async fn on_sqlite() {
    let file = sqlite::file();
    let url = format!("{}?mode=rwc", file.url());
    let mut connection = SqliteConnection::connect(&url).await.expect("it is a file");
    let create = sqlx::query("CREATE TABLE effect (number BIGINT)").execute(&mut connection);
    create.await.expect("it is new");
    a_blocking_handler_commits_and_completes("on_sqlite", &file.url()).await;
    let effects = sqlx::query_scalar::<_, i64>("SELECT number FROM effect ORDER BY number")
        .fetch_all(&mut connection);
    assert_eq!(effects.await.expect("it is there"), [1, 2]);
}

async fn on_postgres() {
    let Some(database) = postgres::database().await else {
        return;
    };
    let url = database.url();
    let mut connection = PgConnection::connect(url).await.expect("it is there");
    let create = sqlx::query("CREATE TABLE effect (number BIGINT)").execute(&mut connection);
    create.await.expect("it is new");
    a_blocking_handler_commits_and_completes("on_postgres", url).await;
    let effects = sqlx::query_scalar::<_, i64>("SELECT number FROM effect ORDER BY number")
        .fetch_all(&mut connection);
    assert_eq!(effects.await.expect("it is there"), [1, 2]);
}

#[tokio::test]
async fn on_sqlite_and_one_thread() {
    on_sqlite().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_sqlite_and_threads() {
    on_sqlite().await;
}

#[tokio::test]
async fn on_postgres_and_one_thread() {
    on_postgres().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_postgres_and_threads() {
    on_postgres().await;
}
