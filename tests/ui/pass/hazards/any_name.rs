//! No name of a function collides with one in the expansion.

#![deny(warnings)]

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task]
async fn run(_lease: LeaseContext) {}

#[locked_task]
async fn lease(lease: LeaseContext) {
    drop(lease);
}

#[locked_task]
async fn client(_lease: LeaseContext) {}

#[locked_task]
async fn trigger(_lease: LeaseContext) {}

fn main() {}
