//! Requires two tasks: one by its handle, whose library nothing else names, and one that no function
//! stands for.

use tasklock_fixture_jobs::send_reports;
use tasklock_runtime::{Runtime, TaskSpec};

/// What is left of a handle when its registration was not linked.
enum Forgotten {}

impl TaskSpec for Forgotten {
    const NAME: &'static str = "forgotten";
}

#[tokio::main]
async fn main() -> Result<(), tasklock_runtime::Error> {
    let mut builder = Runtime::builder().require::<send_reports>();
    if std::env::args().nth(1).as_deref() == Some("forgotten") {
        builder = builder.require::<Forgotten>();
    }
    let runtime = builder.build().await?;
    runtime.shutdown_handle().shutdown();
    runtime.run().await
}
