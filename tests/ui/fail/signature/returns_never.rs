//! A task may run for ever, but says so with `()`.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task]
async fn refresh(_lease: LeaseContext) -> ! {
    std::future::pending().await
}

fn main() {}
