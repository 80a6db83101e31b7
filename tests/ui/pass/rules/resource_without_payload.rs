//! A name that is made of a payload needs one.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(resource = "invoices")]
async fn send(_lease: LeaseContext) {}

fn main() {}
