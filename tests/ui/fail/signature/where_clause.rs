//! A task has nothing to say in a where clause.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task]
async fn refresh(_lease: LeaseContext)
where
    LeaseContext: Clone,
{
}

fn main() {}
