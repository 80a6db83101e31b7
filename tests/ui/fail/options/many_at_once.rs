//! All mistakes of an attribute and of its function in one build, and no other errors: the handle is there
//! all the same.

use tasklock_runtime::{LeaseContext, Payload, locked_task};

#[locked_task(tll = "3s", every = 30, timeout = "5M", handle = Refresh)]
async fn refresh(lease: &LeaseContext, job: Payload<&str>) {}

fn main() {
    println!("{}", Refresh::NAME);
    let _ = Refresh::trigger;
    let _ = |client| drop(Refresh::enqueue(client, ""));
    let _ = |client| drop(Refresh::enqueue_many(client, [""]));
}
