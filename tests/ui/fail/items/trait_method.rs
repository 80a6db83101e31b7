//! A task is a free function.

use tasklock_runtime::{LeaseContext, locked_task};

trait Refresh {
    #[locked_task]
    async fn refresh(_lease: LeaseContext);
}

fn main() {}
