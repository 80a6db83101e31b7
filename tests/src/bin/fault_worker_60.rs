//! Another version of the program `fault_worker`, in which the task `versioned` has a ttl of 60 s.

use std::time::Duration;

use tasklock_runtime::{LeaseContext, TaskResult, locked_task};
use tasklock_tests::torment::{Run, effect};

fn main() -> Result<(), tasklock_runtime::Error> {
    tasklock_tests::torment::run()
}

#[locked_task(ttl = "60s", heartbeat = "1s", after = "20ms", max_crashes = 1000)]
async fn versioned(lease: LeaseContext) -> TaskResult {
    let run = Run::begin(&lease);
    for number in 1..=20 {
        lease.check()?;
        tokio::time::sleep(Duration::from_millis(100)).await;
        effect(&lease, &run, number, number == 20).await?;
    }
    Ok(())
}
