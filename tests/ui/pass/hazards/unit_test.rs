//! A handler is called in a unit test as the function that it is.

#![deny(warnings)]

use tasklock_runtime::{LeaseContext, Payload, State, TaskResult, locked_task};

#[locked_task]
async fn refresh(_lease: LeaseContext, rates: State<Vec<u64>>, index: Payload<usize>) -> TaskResult {
    rates.get(*index).ok_or("no such rate")?;
    Ok(())
}

#[locked_task]
fn blocking(_lease: LeaseContext, index: Payload<usize>) -> TaskResult {
    println!("{}", index.into_inner());
    Ok(())
}

// A lease for tests is another story: these are the calls, as they would be written.
#[allow(dead_code)]
async fn calls(lease: LeaseContext) -> TaskResult {
    refresh(lease.clone(), State::new(vec![1, 2]), Payload(1)).await?;
    blocking(lease, Payload(2))
}

fn main() {}
