//! A worker is killed, and the other takes over its task.
//!
//! ```text
//! cargo run -p tasklock-examples --example two_workers
//! TASKLOCK_DATABASE_URL=postgres://… cargo run -p tasklock-examples --example two_workers
//! ```
//!
//! The program starts itself twice more, as workers on one database (by default a SQLite file in a
//! temporary folder). Both know the task `hold`; one of them gets to run it. That one is killed with
//! SIGKILL, so that it cannot clean up: its lease simply is not renewed any more. When it ends, at
//! most 2 s later, the `ttl`, the other worker starts the task, under a greater fence. The program
//! prints how long that took, stops the other worker, and ends.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use tasklock_examples::{database_url_or, show_logs};
use tasklock_runtime::{BoxError, LeaseContext, Runtime, TaskResult, locked_task};

/// Holds its lease until it is told to stop.
#[locked_task(ttl = "2s", heartbeat = "500ms", every = "1s")]
async fn hold(lease: LeaseContext) -> TaskResult {
    println!("runs the task, fence {}", lease.fence());
    lease.shutdown().await;
    Ok(())
}

fn main() -> Result<(), BoxError> {
    match std::env::args().nth(1).as_deref() {
        None => two_workers(),
        Some("worker") => worker(),
        Some(other) => Err(format!("{other}? It takes no arguments").into()),
    }
}

/// One of the two processes: an ordinary worker, which stops when its input ends.
#[tokio::main]
async fn worker() -> Result<(), BoxError> {
    show_logs();
    let runtime = Runtime::builder().build().await?;
    let shutdown = runtime.shutdown_handle();
    thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        shutdown.shutdown();
    });
    Ok(runtime.run().await?)
}

/// The process that you have started.
fn two_workers() -> Result<(), BoxError> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("two_workers.db");
    let url = database_url_or(&format!("sqlite://{}", file.display()));
    let (says, lines) = mpsc::channel();
    let mut workers = [start(0, &url, &says)?, start(1, &url, &says)?];
    drop(says);

    let (holder, line) = lines.recv()?;
    println!("worker {}: {line}", workers[holder].id());

    workers[holder].kill()?; // SIGKILL
    let killed = Instant::now();
    println!("worker {}: killed", workers[holder].id());

    // It may have said something twice before it was killed; what counts is the other's first word.
    let line = loop {
        let (worker, line) = lines.recv_timeout(Duration::from_secs(30))?;
        if worker != holder {
            break line;
        }
    };
    let other = 1 - holder;
    println!(
        "worker {}: {line}, {:.2} s after the kill",
        workers[other].id(),
        killed.elapsed().as_secs_f64()
    );

    drop(workers[other].stdin.take());
    let status = workers[other].wait()?;
    println!("worker {}: stopped with {status}", workers[other].id());
    workers[holder].wait()?;
    Ok(())
}

/// Starts a worker; its lines arrive in `says`.
fn start(
    number: usize,
    url: &str,
    says: &mpsc::Sender<(usize, String)>,
) -> Result<Child, BoxError> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg("worker")
        .env("TASKLOCK_DATABASE_URL", url)
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
