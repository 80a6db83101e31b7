//! An import that says how far it is, hangs, and is replaced.
//!
//! ```text
//! cargo run -p tasklock-examples --example progress
//! ```
//!
//! The database is a SQLite file of its own, in a temporary folder. The import has 40 pages. Under
//! `renew = "progress"` its lease is renewed while it reports them. What an operator would see, the
//! program reads with `client.job(id)` and prints. In its first run page 21 never comes: nobody closes the
//! connection, and nothing fails. Two seconds after the last report (the `stall`) the lease is lost, with
//! the reason `stalled`; once it has expired, two seconds later at most (the `ttl`), the job is taken over,
//! as after a crash. (It says `on_lost = "signal"` so that it lives to tell; by default it would be dropped where
//! it hangs.) The second run begins behind the pages that the first one has committed. With
//! `renew = "auto"`, the default, the first run would have hung for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tasklock_examples::show_logs;
use tasklock_runtime::{
    BoxError, Client, Job, JobState, LeaseContext, Runtime, State, TaskResult, locked_task,
};
use tokio::time::sleep;

const PAGES: u64 = 40;

/// The pages that are imported. A real program has them in its database, and commits each by
/// `lease.commit(tx)`.
#[derive(Default)]
struct Imported(AtomicU64);

#[locked_task(ttl = "2s", renew = "progress", stall = "2s", on_lost = "signal")]
async fn import(lease: LeaseContext, imported: State<Arc<Imported>>) -> TaskResult {
    println!("attempt {} begins", lease.attempt());
    let first = imported.0.load(Ordering::SeqCst);
    for page in first..PAGES {
        tokio::select! {
            () = fetch(page, lease.attempt()) => {}
            lost = lease.lost() => {
                println!("attempt {} is lost at page {page}: {}", lease.attempt(), lost.as_str());
                return Err(lost.into());
            }
        }
        lease.check()?;
        imported.0.store(page + 1, Ordering::SeqCst);
        lease.progress(page + 1, PAGES); // from the loop that does the work, not from a timer
    }
    Ok(())
}

/// What may hang.
async fn fetch(page: u64, attempt: u32) {
    if page == PAGES / 2 && attempt == 1 {
        std::future::pending::<()>().await;
    }
    sleep(Duration::from_millis(60)).await;
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    show_logs();
    let folder = tempfile::tempdir()?;
    let url = format!("sqlite://{}", folder.path().join("progress.db").display());
    let runtime = Runtime::builder()
        .database_url(&*url)
        .poll_interval(Duration::from_millis(200))
        .state(Arc::new(Imported::default()))
        .build()
        .await?;
    let (client, shutdown) = (runtime.client(), runtime.shutdown_handle());
    let running = tokio::spawn(runtime.run());

    let id = import::enqueue(&client).await?.id();
    let ended = watch(&client, id).await?;
    println!(
        "{} after attempt {}, crashes: {}",
        ended.state, ended.attempt, ended.crashes
    );
    shutdown.shutdown();
    running.await??;
    Ok(())
}

/// Prints what an operator sees of the job, whenever it has changed.
async fn watch(client: &Client, id: i64) -> Result<Job, BoxError> {
    let mut seen = None;
    loop {
        let job = client.job(id).await?.ok_or("the job has gone")?;
        if job.state.is_ended() {
            return Ok(job);
        }
        let now = (job.attempt, job.progress);
        if job.state == JobState::Running && seen.replace(now) != Some(now) {
            match job.progress {
                Some(progress) => println!("job {id}: attempt {}: {progress} pages", job.attempt),
                None => println!("job {id}: attempt {}: nothing said yet", job.attempt),
            }
        }
        sleep(Duration::from_millis(50)).await;
    }
}
