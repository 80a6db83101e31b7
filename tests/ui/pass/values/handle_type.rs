//! A handle is a name, not text.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(handle = Refresh)]
async fn refresh(_lease: LeaseContext) {}

fn main() {
    assert_eq!(Refresh::NAME, "refresh");
}
