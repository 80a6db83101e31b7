//! Handlers whose ends, texts or leases give trouble, and those beside them, which must not notice.

use std::time::Duration;

use tasklock_runtime::{LeaseContext, TaskResult, locked_task};

use crate::database::Database;
use crate::{nothing, say, url};

/// What a handler may hand over in an error, in bytes: nobody should, but it happens.
const HUGE: usize = 50 << 20;

/// Ends at once, with a short lease.
#[locked_task(ttl = "1s", every = "200ms")]
async fn brisk(lease: LeaseContext) {
    say("start", &lease, nothing());
}

/// Fails with a character that not every database can hold.
#[locked_task(ttl = "10s", every = "200ms")]
async fn garbled(lease: LeaseContext) -> TaskResult {
    say("start", &lease, nothing());
    Err("the page \u{1f4c4} is missing".into())
}

/// Ends when the test gives its advisory lock up.
#[locked_task(ttl = "60s", after = "1h")]
async fn awaits(lease: LeaseContext) -> TaskResult {
    let mut database = Database::connect(&url()).await?;
    say("start", &lease, nothing());
    database.run("SELECT pg_advisory_lock(7)").await?;
    say("end", &lease, nothing());
    Ok(())
}

#[locked_task(ttl = "10s", every = "500ms")]
async fn huge_error(lease: LeaseContext) -> TaskResult {
    say("start", &lease, nothing());
    Err("ä".repeat(HUGE / 2).into())
}

/// Without the hook, which would write all of it to standard error.
#[locked_task(ttl = "10s", every = "500ms")]
async fn huge_panic(lease: LeaseContext) {
    say("start", &lease, nothing());
    std::panic::resume_unwind(Box::new("ä".repeat(HUGE / 2)));
}

/// Holds a long lease, and tells whenever it has been renewed.
#[locked_task(ttl = "20s", heartbeat = "1s", after = "1h")]
async fn watched(lease: LeaseContext) -> TaskResult {
    say("start", &lease, nothing());
    let mut left = lease.remaining();
    while !lease.is_shutting_down() {
        tokio::time::sleep(Duration::from_millis(10)).await;
        lease
            .check()
            .inspect_err(|_| say("end", &lease, nothing()))?;
        if lease.remaining() > left {
            say("renewed", &lease, nothing());
        }
        left = lease.remaining();
    }
    Ok(())
}

macro_rules! brief {
    ($($task:ident $ttl:literal)*) => {
        $(
            /// Holds a short lease until it is lost.
            #[locked_task(ttl = $ttl, after = "10ms")]
            async fn $task(lease: LeaseContext) {
                say("start", &lease, nothing());
                tokio::select! {
                    _ = lease.lost() => say("end", &lease, nothing()),
                    () = lease.shutdown() => {}
                }
            }
        )*
    };
}

// Out of step, so that one of them is always held.
brief! {
    brief_a "1s" brief_b "1050ms" brief_c "1100ms" brief_d "1150ms" brief_e "1200ms"
    brief_f "1250ms" brief_g "1300ms" brief_h "1350ms"
}
