//! Two tasks and a script that work on the same invoice, one after the other: `resource = "invoice:{invoice}"`.
//!
//! ```text
//! cargo run -p tasklock-examples --example resource_lock
//! ```
//!
//! The program works on a SQLite file in a temporary folder.
//!
//! 1. A script takes `invoice:42` by hand, as somebody would who corrects that invoice.
//! 2. Jobs of two tasks are enqueued for it, and one for invoice 7. Each run takes a second lease, on the name that its
//!    payload makes; so the job of invoice 7 runs at once, and the others wait, without using up an attempt.
//! 3. The script gives the lease back. Now the jobs of invoice 42 run one after the other, in the order in which
//!    they were due, although the worker has eight places.
//!
//! Each line tells the fence: it increases with every holder of a name, of whatever kind.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tasklock_examples::show_logs;
use tasklock_runtime::{BoxError, LeaseContext, Payload, Runtime, State, TaskResult, locked_task};
use tokio::sync::mpsc;

#[derive(Serialize, Deserialize)]
struct Reminder {
    invoice: u64,
    text: String,
}

/// Told when a run has ended.
type Ended = mpsc::UnboundedSender<u64>;

/// Makes an invoice's document. The payload is the invoice's number: `{}` is the whole of it.
#[locked_task(resource = "invoice:{}")]
async fn print_invoice(
    lease: LeaseContext,
    invoice: Payload<u64>,
    ended: State<Ended>,
) -> TaskResult {
    work(&lease, "print_invoice").await?;
    Ok(ended.send(*invoice)?)
}

/// Reminds of an invoice: never while its document is made.
#[locked_task(resource = "invoice:{invoice}")]
async fn remind(
    lease: LeaseContext,
    reminder: Payload<Reminder>,
    ended: State<Ended>,
) -> TaskResult {
    work(&lease, &format!("remind {:?}", reminder.text)).await?;
    Ok(ended.send(reminder.invoice)?)
}

async fn work(lease: &LeaseContext, what: &str) -> TaskResult {
    let name = lease.resource().unwrap_or_default();
    let fence = lease.resource_fence().unwrap_or_default();
    println!("{name}: {what} begins, fence {fence}");
    for _ in 0..3 {
        // Both leases: whichever is lost, the run is.
        lease.check()?;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    println!("{name}: {what} ends, attempt {}", lease.attempt());
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    show_logs();
    let folder = tempfile::tempdir()?;
    let (ended, mut endings) = mpsc::unbounded_channel::<u64>();
    let runtime = Runtime::builder()
        .database_url(format!("sqlite://{}/invoices.db", folder.path().display()))
        .state(ended)
        .concurrency(8)
        .build()
        .await?;
    let (client, shutdown) = (runtime.client(), runtime.shutdown_handle());

    let script = client.lease("invoice:42").try_acquire().await?;
    let script = script.ok_or("nobody else is here")?;
    println!("invoice:42: the script begins, fence {}", script.fence());

    for text in ["please pay", "pay now"] {
        let (invoice, text) = (42, text.to_owned());
        print_invoice::enqueue(&client, 42).await?;
        remind::enqueue(&client, Reminder { invoice, text }).await?;
    }
    print_invoice::enqueue(&client, 7).await?;
    let running = tokio::spawn(runtime.run());

    let first = endings.recv().await;
    assert_eq!(first, Some(7), "the others wait");
    println!("invoice:42: the script ends");
    script.release().await;
    for _ in 0..4 {
        assert_eq!(endings.recv().await, Some(42));
    }
    shutdown.shutdown();
    running.await??;
    Ok(())
}
