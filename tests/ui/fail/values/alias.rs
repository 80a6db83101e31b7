//! Former names are names: one in quotes, or several in brackets.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(alias = old)]
async fn task_1(_lease: LeaseContext) {}

#[locked_task(alias = " old")]
async fn task_2(_lease: LeaseContext) {}

#[locked_task(alias = [])]
async fn task_3(_lease: LeaseContext) {}

#[locked_task(alias = ["old", older])]
async fn task_4(_lease: LeaseContext) {}

#[locked_task(alias = "task_5")]
async fn task_5(_lease: LeaseContext) {}

#[locked_task(alias = ["a", "a"])]
async fn task_6(_lease: LeaseContext) {}

fn main() {}
