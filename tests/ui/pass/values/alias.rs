//! Former names are names: one in quotes, or several in brackets.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(alias = "old")]
async fn task_1(_lease: LeaseContext) {}

#[locked_task(alias = ["old", "older.one",])]
async fn task_2(_lease: LeaseContext) {}

fn main() {}
