//! When a task runs that goes by the calendar.
//!
//! ```text
//! cargo run -p tasklock-examples --example schedules
//! ```
//!
//! It lists the slots of a cron around the two days on which clocks are set, runs a task by another one, every two seconds, for
//! three slots, and ends. The database is a SQLite file of its own, in a temporary folder. With a schedule as its argument it
//! lists the next ten slots of that:
//!
//! ```text
//! cargo run -p tasklock-examples --example schedules -- "cron 0 9 * * MON#1 in America/New_York"
//! ```

use jiff::Timestamp;
use tasklock_examples::show_logs;
use tasklock_runtime::{BoxError, EventKind, LeaseContext, Runtime, locked_task, preview};

/// Each slot is run, also one that was missed while no replica was up. It falls due up to 200 ms later, always by the same time for
/// the same slot.
#[locked_task(
    cron = "*/2 * * * * *",
    tz = "Europe/Berlin",
    jitter = "200ms",
    missed = "all"
)]
async fn report(lease: LeaseContext) {
    println!("the report of {}", lease.scheduled_for());
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    show_logs();
    if let Some(schedule) = std::env::args().nth(1) {
        let slots = preview(&schedule, Timestamp::now(), 10)?;
        if slots.is_empty() {
            println!("{schedule} has no slots of its own: it runs after something else");
        }
        for slot in slots {
            println!("{slot}");
        }
        return Ok(());
    }
    // On one day there is no half past two, and the run comes at three; on the other it comes twice, and is run once.
    for day in ["2026-03-28T12:00:00Z", "2026-10-24T12:00:00Z"] {
        let schedule = "cron 30 2 * * * in Europe/Berlin";
        println!("{schedule}, after {day}:");
        for slot in preview(schedule, day.parse()?, 2)? {
            println!("  {}", slot.in_tz("Europe/Berlin")?);
        }
    }
    let folder = tempfile::tempdir()?;
    let url = format!("sqlite://{}", folder.path().join("tasklock.db").display());
    let runtime = Runtime::builder().database_url(url).build().await?;
    let (mut events, shutdown) = (runtime.events(), runtime.shutdown_handle());
    let running = tokio::spawn(runtime.run());
    let mut reports = 0;
    while reports < 3 {
        let event = events.recv().await.ok_or("the runtime has ended")??;
        reports += u32::from(event.kind == EventKind::Finished);
    }
    shutdown.shutdown();
    Ok(running.await??)
}
