//! The expansion names what it needs by its full path.

#![deny(warnings)]

use tasklock_runtime::{LeaseContext, locked_task};

#[allow(dead_code)]
mod shadows {
    pub(crate) struct Box;
    pub(crate) struct Result;
    pub(crate) struct Client;
    pub(crate) struct String;
}

#[allow(unused_imports)]
use shadows::*;

#[locked_task]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
