//! What the runtime makes for each run, in any order.

#![deny(warnings)]

use serde::{Deserialize, Serialize};
use tasklock_runtime::{ExtractError, FromRun, LeaseContext, Payload, Requirements, RunParts, State, TaskResult, locked_task};

struct Db;

struct Mailer;

#[derive(Serialize, Deserialize)]
struct Invoice {
    number: u64,
}

struct Connection;

impl FromRun for Connection {
    fn requirements(needs: &mut Requirements) {
        State::<Db>::requirements(needs);
    }

    async fn from_run(run: &RunParts) -> Result<Self, ExtractError> {
        let _db = State::<Db>::from_run(run).await?;
        Ok(Self)
    }
}

#[locked_task(queue = "mail", priority = 5, concurrency = 2, min_hold = "1s", retries = 9, backoff = "1s..1h")]
async fn send(
    lease: LeaseContext,
    db: State<Db>,
    payload: Payload<Invoice>,
    _mailer: State<Mailer>,
    _connection: Connection,
) -> TaskResult {
    lease.check()?;
    drop(db);
    println!("{}", payload.number);
    Ok(())
}

fn main() {}
