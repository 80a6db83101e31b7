//! A parameter has a plain name.

use tasklock_runtime::{LeaseContext, locked_task};

struct Lease(LeaseContext);

#[locked_task]
async fn refresh(Lease(_lease): Lease) {}

fn main() {}
