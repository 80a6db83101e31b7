//! A task may stand in the function that uses it.

#![deny(warnings)]

use tasklock_runtime::{LeaseContext, locked_task};

fn main() {
    #[locked_task]
    async fn refresh(_lease: LeaseContext) {}

    assert_eq!(refresh::NAME, "refresh");
}
