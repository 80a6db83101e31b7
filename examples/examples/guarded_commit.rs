//! A worker is stopped in the midst of its work, and wakes up beside a new owner: what it writes then is
//! refused.
//!
//! ```text
//! cargo run -p tasklock-examples --example guarded_commit
//! ```
//!
//! The program starts itself twice more, as workers on one SQLite file in a temporary folder. Both know
//! the task `book`, which works for a second and then books an entry, in a transaction that
//! `lease.commit` ends. The first to run it is stopped with SIGSTOP, as a paused virtual machine would
//! be; 2 s later, the `ttl`, the other one runs the task and books its entry. Then the first one goes on,
//! and tries to book too. Its `commit` fails, its entry is rolled back, and one entry is there.
//!
//! Here the first one's own clock says already that the lease is lost: `commit` asks it first, as
//! `lease.check()` does. But it does not rest on that. Its last statement before COMMIT compares owner
//! and fence with the job's row, and keeps the row until the commit; so a pause between any check and the
//! commit changes nothing either.
//!
//! The task says `on_lost = "signal"`, so that its handler goes on after the loss, as one that does not
//! check its lease. By default it would have been dropped at its next await point.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use sqlx::SqlitePool;
use tasklock_examples::show_logs;
use tasklock_runtime::{BoxError, LeaseContext, Runtime, State, TaskResult, locked_task};

/// Books one entry.
#[locked_task(ttl = "2s", heartbeat = "500ms", after = "1h", on_lost = "signal")]
async fn book(lease: LeaseContext, pool: State<SqlitePool>) -> TaskResult {
    println!("works, fence {}", lease.fence());
    tokio::time::sleep(Duration::from_secs(1)).await; // the work

    let mut tx = pool.begin_with("BEGIN IMMEDIATE").await?;
    sqlx::query("INSERT INTO entry (fence) VALUES ($1)")
        .bind(lease.fence())
        .execute(&mut *tx)
        .await?;
    match lease.commit(tx).await {
        Ok(()) => println!("booked, fence {}", lease.fence()),
        Err(error) => {
            println!("refused, fence {}: {error}", lease.fence());
            return Err(error.into());
        }
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    match &std::env::args().skip(1).collect::<Vec<_>>()[..] {
        [] => story().await,
        [worker, url] if worker == "worker" => work(url).await,
        _ => Err("it takes no arguments".into()),
    }
}

/// One of the two processes: an ordinary worker, which stops when its input ends.
async fn work(url: &str) -> Result<(), BoxError> {
    show_logs();
    let pool = SqlitePool::connect(url).await?;
    let runtime = Runtime::builder()
        .pool(pool.clone())
        .state(pool)
        .build()
        .await?;
    let shutdown = runtime.shutdown_handle();
    thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        shutdown.shutdown();
    });
    Ok(runtime.run().await?)
}

/// The process that you have started.
async fn story() -> Result<(), BoxError> {
    let folder = tempfile::tempdir()?;
    let url = format!("sqlite://{}/guarded_commit.db", folder.path().display());
    let pool = SqlitePool::connect(&format!("{url}?mode=rwc")).await?;
    sqlx::query("CREATE TABLE entry (fence INTEGER NOT NULL)")
        .execute(&pool)
        .await?;
    let (says, lines) = mpsc::channel();
    let mut workers = [start(0, &url, &says)?, start(1, &url, &says)?];

    let (first, line) = lines.recv()?;
    println!("worker {}: {line}", workers[first].id());
    signal(&workers[first], "STOP")?;
    println!("worker {}: stopped", workers[first].id());
    loop {
        let (worker, line) = lines.recv_timeout(Duration::from_secs(30))?;
        println!("worker {}: {line}", workers[worker].id());
        if line.starts_with("booked") {
            break;
        }
    }
    println!("worker {}: goes on", workers[first].id());
    signal(&workers[first], "CONT")?;
    let (worker, line) = lines.recv_timeout(Duration::from_secs(30))?;
    println!("worker {}: {line}", workers[worker].id());

    let entries: i64 = sqlx::query_scalar("SELECT count(*) FROM entry")
        .fetch_one(&pool)
        .await?;
    println!("entries: {entries}");
    for worker in &mut workers {
        drop(worker.stdin.take());
        worker.wait()?;
    }
    Ok(())
}

fn signal(worker: &Child, name: &str) -> Result<(), BoxError> {
    let pid = worker.id().to_string();
    let status = Command::new("kill").args(["-s", name, &pid]).status()?;
    status.success().then_some(()).ok_or("kill failed".into())
}

/// Starts a worker; its lines arrive in `says`.
fn start(
    number: usize,
    url: &str,
    says: &mpsc::Sender<(usize, String)>,
) -> Result<Child, BoxError> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["worker", url])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let says = says.clone();
    let output = child.stdout.take().ok_or("it is piped")?;
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if says.send((number, line)).is_err() {
                break;
            }
        }
    });
    Ok(child)
}
