//! Names the library of tasks.

tasklock_runtime::link!(tasklock_fixture_jobs);

#[tokio::main]
async fn main() -> Result<(), tasklock_runtime::Error> {
    tasklock_runtime::run().await
}
