//! A name is not empty.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(name = "x")]
async fn refresh(_lease: LeaseContext) {}

fn main() {
    assert_eq!(refresh::NAME, "x");
}
