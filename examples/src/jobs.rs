//! Triggers a task and waits for its run, as a script or a deploy hook does.

use std::time::Duration;

use tasklock_runtime::{BoxError, Client, Job, JobState, Triggered};

const POLL: Duration = Duration::from_millis(20);

/// Makes the task due now, and waits until a run that was not over at this call has ended. The inner
/// result is the run's: its error as it is stored. Which worker makes the run is not known beforehand.
///
/// # Errors
///
/// The database does not answer, or does not know the task.
pub async fn trigger_and_wait(client: &Client, task: &str) -> Result<Result<(), String>, BoxError> {
    let before = standing(client, task).await?.fence;
    let first = match client.trigger(task).await? {
        Triggered::AlreadyRunning => before,
        _ => before + 1,
    };
    loop {
        let job = standing(client, task).await?;
        if job.state == JobState::Ready && job.fence >= first {
            return Ok(match job.last_outcome.as_deref() {
                Some("succeeded") => Ok(()),
                _ => Err(job.last_error.unwrap_or_default()),
            });
        }
        tokio::time::sleep(POLL).await;
    }
}

/// The one job that the task owns.
async fn standing(client: &Client, task: &str) -> Result<Job, BoxError> {
    let jobs = client.jobs().task(task).await?;
    let standing = jobs.into_iter().find(|job| job.is_standing);
    standing.ok_or_else(|| format!("the store knows no task {task}").into())
}
