//! A name has at most 128 bytes.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(name = "öööööööööööööööööööööööööööööööööööööööööööööööööööööööööööööööö")]
async fn refresh(_lease: LeaseContext) {}

fn main() {
    assert_eq!(refresh::NAME.len(), 128);
}
