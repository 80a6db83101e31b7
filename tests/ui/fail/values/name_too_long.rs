//! A name has at most 128 bytes.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(name = "ööööööööööööööööööööööööööööööööööööööööööööööööööööööööööööööööö")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
