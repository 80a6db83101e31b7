//! What a test can say of jobs that were enqueued.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tasklock_runtime::testing::TestRuntime;
use tasklock_runtime::{Client, LeaseContext, Payload, TaskResult, locked_task};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Invoice {
    number: u32,
}

#[locked_task]
async fn send_invoice(_lease: LeaseContext, _invoice: Payload<Invoice>) {}

#[locked_task(handle = Tidy)]
async fn tidy_up(_lease: LeaseContext) {}

/// The code under test.
async fn order(client: &Client, number: u32) -> TaskResult {
    send_invoice::enqueue(client, Invoice { number })
        .delay(Duration::from_secs(60))
        .await?;
    Tidy::enqueue(client).await?;
    Ok(())
}

async fn ordered(numbers: &[u32]) -> TestRuntime {
    let tasks = [send_invoice::NAME, Tidy::NAME];
    let built = TestRuntime::builder().only(tasks).build().await;
    let rt = built.expect("they are linked and need nothing");
    for number in numbers {
        order(&rt.client(), *number).await.expect("memory takes it");
    }
    rt
}

#[tokio::test]
async fn waiting_jobs_are_listed_with_their_payloads() {
    let rt = ordered(&[1, 2]).await;
    let expected = [1, 2].map(|number| Invoice { number });
    assert_eq!(rt.enqueued::<send_invoice, _>(), expected);
    assert_eq!(rt.enqueued::<Tidy, _>(), [(), ()]);
    rt.assert_enqueued::<send_invoice, _>(&Invoice { number: 2 });
    rt.assert_enqueued::<Tidy, _>(&());

    assert_eq!(rt.run_due().await.len(), 2, "those that tidy up");
    assert_eq!(rt.enqueued::<Tidy, ()>(), []);
    assert_eq!(rt.enqueued::<send_invoice, _>().len(), 2);
}

#[tokio::test]
#[should_panic(expected = "no job of `send_invoice` waits that carries
  {\"number\":3}
those that wait carry
  {\"number\":1}
  {\"number\":2}")]
async fn a_missing_job_is_told_with_those_that_are_there() {
    let rt = ordered(&[1, 2]).await;
    rt.assert_enqueued::<send_invoice, _>(&Invoice { number: 3 });
}

#[tokio::test]
#[should_panic(expected = "none of its jobs waits")]
async fn so_is_that_there_is_none() {
    let rt = ordered(&[]).await;
    rt.assert_enqueued::<send_invoice, _>(&Invoice { number: 1 });
}
