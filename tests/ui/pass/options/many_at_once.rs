//! All mistakes of an attribute and of its function in one build, and no other errors: the handle is there
//! all the same.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(ttl = "3s", every = "30s", timeout = "5m", handle = Refresh)]
async fn refresh(_lease: LeaseContext) {}

fn main() {
    println!("{}", Refresh::NAME);
    let _ = Refresh::trigger;
}
