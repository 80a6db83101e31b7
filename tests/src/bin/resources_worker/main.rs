//! The worker process that the tests of resources drive: each test runs some of its tasks (`TASKLOCK_ONLY`),
//! listens to what they say, and does bad things to the process.
//!
//! | variable | |
//! | --- | --- |
//! | `WORKER_ENQUEUES` | by its handles it enqueues jobs of `bills` for this invoice, and ends |
//! | `WORKER_HOLDS` | it runs no tasks, but takes this name by hand, for a second at a time, and keeps it |

mod short;
mod stuck;

use std::time::Duration;

use serde_json::{Value, json};
use tasklock_runtime::{Client, CommitError, Error, LeaseContext, Runtime};
use tasklock_test_support::process::emit;
use tasklock_tests::stage::{Notes, say, url};

/// What most jobs carry: which invoice they are about.
#[derive(serde::Serialize, serde::Deserialize)]
struct Errand {
    invoice: u32,
    /// Whether its first run never ends.
    hangs: bool,
}

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<(), Error> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
    if let Ok(invoice) = std::env::var("WORKER_ENQUEUES") {
        let invoice = invoice.parse().expect("it is a number");
        return enqueues(invoice).await;
    }
    if let Ok(name) = std::env::var("WORKER_HOLDS") {
        return holds(&name).await;
    }
    let builder = Runtime::builder().state(Notes::open(&url()));
    builder.build().await?.run().await
}

async fn enqueues(invoice: u32) -> Result<(), Error> {
    let client = Client::connect(&url()).await?;
    let errand = || Errand {
        invoice,
        hangs: false,
    };
    short::bills::enqueue(&client, errand()).await?;
    short::bills::enqueue_many(&client, [errand(), errand()]).await?;
    short::reminds::enqueue(&client, (invoice, "soon".to_owned())).await?;
    Ok(())
}

async fn holds(name: &str) -> Result<(), Error> {
    let client = Client::connect(&url()).await?;
    let lease = client.lease(name).ttl(Duration::from_secs(1));
    let _held = lease.try_acquire().await?.expect("nobody has it");
    emit("held", json!({}));
    std::future::pending().await
}

/// Says something about a run and its second lease.
fn tell(event: &str, lease: &LeaseContext) {
    say(event, lease, resource(lease));
}

fn resource(lease: &LeaseContext) -> Value {
    json!({ "resource": lease.resource(), "resource_fence": lease.resource_fence() })
}

/// Says what became of a transaction.
fn tell_of(committed: &Result<(), CommitError>, lease: &LeaseContext) {
    match committed {
        Ok(()) => tell("committed", lease),
        Err(error) => {
            let mut more = resource(lease);
            more["why"] = json!(error.to_string());
            say("refused", lease, more);
        }
    }
}
