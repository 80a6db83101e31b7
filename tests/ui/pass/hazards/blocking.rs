//! A plain function, with everything that an async one may have.

#![deny(warnings)]

use tasklock_runtime::{Client, LeaseContext, Payload, State, TaskResult, locked_task};

#[locked_task(every = "5s", timeout = "1m")]
fn scheduled(lease: LeaseContext, rates: State<Vec<u64>>) {
    if lease.check().is_ok() {
        println!("{}", rates.len());
    }
}

#[locked_task(on_lost = "exit")]
fn enqueued(_lease: LeaseContext, mut number: Payload<u64>, _: State<u8>) -> TaskResult {
    *number += 1;
    Ok(())
}

pub async fn both(client: &Client) -> Result<(), tasklock_runtime::Error> {
    scheduled::trigger(client).await?;
    enqueued::enqueue(client, 5).await?;
    Ok(())
}

fn main() {}
