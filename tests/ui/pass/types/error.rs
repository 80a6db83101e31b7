//! The error of a task is an error, and can be boxed.

use tasklock_runtime::{LeaseContext, TaskResult, locked_task};

#[derive(Debug)]
struct Broken;

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("broken")
    }
}

impl std::error::Error for Broken {}

#[locked_task]
async fn own_error(_lease: LeaseContext) -> Result<(), Broken> {
    Err(Broken)
}

#[locked_task]
async fn text(_lease: LeaseContext) -> Result<(), String> {
    Err("broken".to_owned())
}

#[locked_task]
async fn any(lease: LeaseContext) -> TaskResult {
    lease.check()?;
    "x".parse::<u64>()?;
    Ok(())
}

fn main() {}
