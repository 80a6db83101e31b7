//! Has a library of tasks among its dependencies, and does not name it.

#[tokio::main]
async fn main() -> Result<(), tasklock_runtime::Error> {
    tasklock_runtime::run().await
}
