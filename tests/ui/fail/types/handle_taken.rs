//! The handle needs a name of its own.

use tasklock_runtime::{LeaseContext, locked_task};

#[allow(non_camel_case_types)]
struct refresh {}

#[locked_task]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
