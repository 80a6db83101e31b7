//! A parameter has a plain name.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task]
async fn by_name(_lease: LeaseContext) {}

#[locked_task]
async fn mutable(mut lease: LeaseContext) {
    let _ = &mut lease;
}

#[locked_task]
async fn unused(_: LeaseContext) {}

fn main() {}
