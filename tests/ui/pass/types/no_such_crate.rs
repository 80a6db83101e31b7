//! The runtime is where `crate` says it is.

use tasklock_runtime::{LeaseContext, locked_task};

mod facade {
    pub(crate) use tasklock_runtime as rt;
}

#[locked_task(crate = facade::rt)]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
