//! There is a handle anyway, unless it is refused.

use tasklock_runtime::{LeaseContext, locked_task};

/// No handle takes this name.
#[allow(non_camel_case_types)]
struct refresh {
    _field: u8,
}

#[locked_task(handle = false)]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
