//! A job that takes its process down, and one that happens to be in it.

use tasklock_runtime::{LeaseContext, Payload, locked_task};

use crate::say_start;

#[locked_task(ttl = "1s")]
async fn aborts(lease: LeaseContext, _number: Payload<i64>) {
    say_start(&lease);
    std::process::abort();
}

#[locked_task(ttl = "1s")]
async fn bystander(lease: LeaseContext, _number: Payload<i64>) {
    say_start(&lease);
}
