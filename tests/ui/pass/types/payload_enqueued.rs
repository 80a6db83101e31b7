//! The handle takes the payload's type.

use tasklock_runtime::{Client, LeaseContext, Payload, locked_task};

#[locked_task]
async fn send(_lease: LeaseContext, _number: Payload<u64>) {}

pub fn use_it(client: &Client) {
    drop(send::enqueue(client, 1));
    drop(send::enqueue_many(client, [1, 2]));
    drop(send::enqueue_many(client, (0..3).map(|n| n * n)));
}

fn main() {}
