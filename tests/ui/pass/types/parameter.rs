//! The parameter is the lease, by any of its names.

use tasklock_runtime::{LeaseContext, locked_task};

type Lease = LeaseContext;

#[locked_task]
async fn by_path(_lease: tasklock_runtime::LeaseContext) {}

#[locked_task]
async fn by_alias(_lease: Lease) {}

fn main() {}
