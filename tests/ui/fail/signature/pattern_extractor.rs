//! A parameter has a plain name, and derefs to its value.

use tasklock_runtime::{LeaseContext, Payload, locked_task};

#[locked_task]
async fn refresh(_lease: LeaseContext, Payload(_number): Payload<u64>) {}

fn main() {}
