//! Schedules follow the clock that the test moves.

use std::time::Duration;

use jiff::Timestamp;
use tasklock_runtime::testing::TestRuntime;
use tasklock_runtime::{LeaseContext, locked_task};

const SECOND: Duration = Duration::from_secs(1);

#[locked_task(every = "5s")]
async fn every_five(_lease: LeaseContext) {}

#[locked_task(after = "7s")]
async fn after_seven(_lease: LeaseContext) {}

async fn only(task: &str, start: &str) -> TestRuntime {
    let start: Timestamp = start.parse().expect("it is one");
    let built = TestRuntime::builder().only([task]).starting_at(start);
    built.build().await.expect("it is linked and needs nothing")
}

#[tokio::test]
async fn a_fixed_rate_is_kept_and_missed_slots_are_one_run() {
    let rt = only(every_five::NAME, "2031-02-03T04:05:01Z").await;
    assert_eq!(rt.run_due().await, []);
    assert_eq!(rt.advance_to_next().await, Some(4 * SECOND));
    assert_eq!(rt.now().to_string(), "2031-02-03T04:05:05Z");
    let ran = rt.run_due().await;
    assert_eq!((ran.len(), ran[0].scheduled_for), (1, rt.now()));

    rt.advance(62 * SECOND).await;
    assert_eq!(rt.run_due().await.len(), 1, "as if no worker had been up");
    let ran = rt.run_for(60 * SECOND).await;
    let fences: Vec<i64> = ran.iter().map(|ran| ran.fence).collect();
    assert_eq!(fences, (3..15).collect::<Vec<i64>>());
    assert_eq!(rt.now().to_string(), "2031-02-03T04:07:07Z");
}

#[tokio::test]
async fn a_fixed_delay_counts_from_the_end_of_the_run_before() {
    let rt = only(after_seven::NAME, "2031-02-03T04:05:01Z").await;
    assert_eq!(rt.run_due().await.len(), 1, "at once, when it is new");
    assert_eq!(rt.advance_to_next().await, Some(7 * SECOND));
    assert_eq!(rt.run_for(28 * SECOND).await.len(), 5);
}

#[tokio::test]
async fn each_test_starts_at_the_same_moment() {
    let built = TestRuntime::builder().only([every_five::NAME]).build();
    let rt = built.await.expect("it is linked and needs nothing");
    assert_eq!(rt.now().to_string(), "2030-01-01T00:00:00Z");
}
