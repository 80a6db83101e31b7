//! Two handlers lose their leases, and notice before anybody else can have them.
//!
//! ```text
//! cargo run -p tasklock-examples --example lease_lost
//! ```
//!
//! The database is a SQLite file of its own, in a temporary folder. As soon as both handlers run, the
//! program locks that file with a write transaction, as a careless operator might, and keeps it locked:
//! no heartbeat can renew a lease any more. In the database the leases end 5 s after their last
//! renewal: the `ttl`. The handlers are told 2 s earlier, the `margin`, by their own clock alone. One
//! asks with `check()` before each step, one waits in `lost()` beside its work; each prints what it was
//! told, when, and how long the database still reserves the lease for it. Then the program ends by
//! itself.
//!
//! Both tasks say `on_lost = "signal"`, so that they live to tell. By default a handler whose lease is lost
//! is dropped at its next await point.

use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sqlx::SqlitePool;
use tasklock_examples::show_logs;
use tasklock_runtime::{BoxError, LeaseContext, LeaseLost, Runtime, TaskResult, locked_task};
use tokio::sync::mpsc;
use tokio::time::sleep;

enum News {
    Started,
    Lost,
}

struct App {
    pool: SqlitePool,
    news: mpsc::Sender<News>,
    start: Instant,
}

/// What the handlers need. Handlers take no parameter but the lease as yet, so it is a static.
static APP: OnceLock<App> = OnceLock::new();

/// Asks before each step.
#[locked_task(
    ttl = "5s",
    heartbeat = "1s",
    margin = "2s",
    after = "1h",
    on_lost = "signal"
)]
async fn polls(lease: LeaseContext) -> TaskResult {
    let app = started().await?;
    for step in 0.. {
        if let Err(lost) = lease.check() {
            app.report(&format!("check() before step {step}"), &lease, lost)
                .await?;
            return Err(lost.into());
        }
        sleep(Duration::from_millis(20)).await; // the step's work
    }
    Ok(())
}

/// Works, and waits for the loss at the same time.
#[locked_task(
    ttl = "5s",
    heartbeat = "1s",
    margin = "2s",
    after = "1h",
    on_lost = "signal"
)]
async fn awaits(lease: LeaseContext) -> TaskResult {
    let app = started().await?;
    tokio::select! {
        () = sleep(Duration::from_secs(3600)) => Ok(()), // the work
        lost = lease.lost() => {
            app.report("lost()", &lease, lost).await?;
            Err(lost.into())
        }
    }
}

async fn started() -> Result<&'static App, BoxError> {
    let app = APP.get().ok_or("main() sets it before it runs tasks")?;
    app.news.send(News::Started).await?;
    Ok(app)
}

impl App {
    async fn report(&self, seen: &str, lease: &LeaseContext, lost: LeaseLost) -> TaskResult {
        let at = self.start.elapsed();
        // A transaction of somebody else's keeps nobody from reading.
        let lock_until: i64 =
            sqlx::query_scalar("SELECT lock_until FROM tasklock_job WHERE id = $1")
                .bind(lease.job_id())
                .fetch_one(&self.pool)
                .await?;
        let expiry = UNIX_EPOCH + Duration::from_micros(lock_until.try_into()?);
        let reserved = match expiry.duration_since(SystemTime::now()) {
            Ok(left) => format!("{} ms before the store's expiry", left.as_millis()),
            Err(_) => "AFTER the store's expiry".to_owned(),
        };
        println!(
            "{:>5} ms  {}: {seen}: {}, {reserved}",
            at.as_millis(),
            lease.task(),
            lost.as_str(),
        );
        Ok(self.news.send(News::Lost).await?)
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    show_logs();
    let folder = tempfile::tempdir()?;
    let url = format!("sqlite://{}", folder.path().join("lease_lost.db").display());
    let runtime = Runtime::builder().database_url(&*url).build().await?;
    let pool = SqlitePool::connect(&url).await?;
    let (news, mut inbox) = mpsc::channel(4);
    let start = Instant::now();
    let app = APP.get_or_init(|| App { pool, news, start });
    let shutdown = runtime.shutdown_handle();
    let running = tokio::spawn(runtime.run());

    until_both(&mut inbox, |news| matches!(news, News::Started)).await;
    let lock = app.pool.begin_with("BEGIN IMMEDIATE").await?;
    println!(
        "{:>5} ms  the database is locked: no renewal gets through",
        start.elapsed().as_millis()
    );

    until_both(&mut inbox, |news| matches!(news, News::Lost)).await;
    lock.rollback().await?;
    shutdown.shutdown();
    running.await??;
    println!("both handlers knew; nothing was written for their runs");
    Ok(())
}

async fn until_both(inbox: &mut mpsc::Receiver<News>, wanted: fn(&News) -> bool) {
    let mut seen = 0;
    while seen < 2
        && let Some(news) = inbox.recv().await
    {
        seen += usize::from(wanted(&news));
    }
}
