//! What the handle offers, with and without a payload.

#![deny(warnings)]

use tasklock_runtime::{Client, Enqueue, EnqueueMany, LeaseContext, Payload, locked_task};

#[locked_task(priority = -5)]
async fn plain(_lease: LeaseContext) {}

#[locked_task(priority = 5)]
async fn carrying(_lease: LeaseContext, _texts: Payload<Vec<String>>) {}

pub async fn calls(client: &Client) -> Result<(), tasklock_runtime::Error> {
    plain::trigger(client).await?;
    let one: Enqueue<'_> = plain::enqueue(client);
    one.priority(7).await?;
    carrying::enqueue(client, vec![]).await?;
    let many: EnqueueMany<'_> = carrying::enqueue_many(client, std::iter::empty());
    many.await?;
    Ok(())
}

fn main() {}
