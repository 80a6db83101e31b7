//! A payload is seen through paths, parentheses and macros.

#![deny(warnings)]
#![allow(unused_parens)]

use tasklock_runtime::{Client, LeaseContext, locked_task};

#[locked_task]
async fn by_path(_lease: LeaseContext, _number: tasklock_runtime::Payload<u64>) {}

#[locked_task]
async fn in_parentheses(_lease: LeaseContext, _number: (tasklock_runtime::Payload<u64>)) {}

macro_rules! task {
    ($name:ident, $payload:ty) => {
        #[locked_task]
        async fn $name(_lease: LeaseContext, _number: $payload) {}
    };
}

task!(from_a_macro, tasklock_runtime::Payload<u64>);

pub fn calls(client: &Client) {
    drop(by_path::enqueue(client, 1));
    drop(in_parentheses::enqueue(client, 2));
    drop(from_a_macro::enqueue(client, 3));
}

fn main() {}
