//! All mistakes of an attribute and of its function in one build, and no other errors: the handle is there
//! all the same.

use tasklock_runtime::{LeaseContext, Payload, locked_task};

#[locked_task(ttl = "3s", timeout = "5m", handle = Refresh)]
async fn refresh(_lease: LeaseContext, _job: Payload<String>) {}

fn main() {
    println!("{}", Refresh::NAME);
    let _ = |client| drop(Refresh::enqueue(client, String::new()));
    let _ = |client| drop(Refresh::enqueue_many(client, [String::new()]));
}
