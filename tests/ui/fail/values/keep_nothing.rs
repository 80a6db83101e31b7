//! Who keeps nothing says "none".

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(keep = "None")]
async fn first(_lease: LeaseContext) {}

#[locked_task(keep = "0s")]
async fn second(_lease: LeaseContext) {}

#[locked_task(keep = 0)]
async fn third(_lease: LeaseContext) {}

#[locked_task(keep = none)]
async fn fourth(_lease: LeaseContext) {}

fn main() {}
