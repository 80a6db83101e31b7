//! How often memory is asked for, for each job, by everything between the store and the handler. The store is memory: what it
//! asks for itself is counted, too.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use allocation_counter::{AllocationInfo, measure};
use tasklock_runtime::{LeaseContext, Memory, Payload, Runtime, ShutdownHandle, locked_task};
use tasklock_tests::stage::print;
use tokio::runtime::Builder;

const JOBS: u64 = 10_000;
/// For each job, with what a batch asks for shared out among its jobs.
const MOST: f64 = 22.0;

static LEFT: AtomicU64 = AtomicU64::new(JOBS);
static SHUTDOWN: OnceLock<ShutdownHandle> = OnceLock::new();

#[locked_task(ttl = "30s", keep = "none")]
async fn counted(_lease: LeaseContext, _number: Payload<u64>) {
    if LEFT.fetch_sub(1, Ordering::Relaxed) == 1
        && let Some(shutdown) = SHUTDOWN.get()
    {
        shutdown.shutdown();
    }
}

#[test]
fn a_job_asks_for_little_memory() {
    // One thread, so that all of it is counted but the heartbeat's.
    let tokio = Builder::new_current_thread().enable_all().build();
    let tokio = tokio.expect("a runtime needs nothing");
    let runtime = tokio.block_on(async {
        let builder = Runtime::builder().pool(Memory::new()).concurrency(16);
        let runtime = builder.handle_signals(false).build().await;
        let runtime = runtime.expect("memory needs nothing");
        let jobs = counted::enqueue_many(&runtime.client(), 0..JOBS).await;
        jobs.expect("memory takes them");
        SHUTDOWN
            .set(runtime.shutdown_handle())
            .expect("it is set once");
        runtime
    });
    let AllocationInfo {
        count_total,
        bytes_total,
        ..
    } = measure(|| {
        let ended = tokio.block_on(runtime.run());
        ended.expect("memory does not fail");
    });
    assert_eq!(LEFT.load(Ordering::Relaxed), 0);
    let each = |sum: u64| sum as f64 / JOBS as f64;
    let (count, bytes) = (each(count_total), each(bytes_total));
    print(
        "cost",
        &format!("{count:.1} allocations of {bytes:.0} bytes in all for a job"),
    );
    assert!(count <= MOST, "{count:.1}");
}
