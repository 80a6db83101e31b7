//! `renew` is one of three words.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(renew = "manual")]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
