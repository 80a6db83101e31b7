//! Deletes ended jobs whose time to be kept is over: in small batches, so that nobody waits for its locks.
//!
//! Each worker looks now and then, at moments that chance spreads, so that any number of workers costs a
//! look each and no more. What they delete is written in the rows; tasks that nobody has any more are
//! tidied up as well.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use crate::error::StoreError;
use crate::store::Store;

const LOOK: Duration = Duration::from_secs(60);
const BATCH: usize = 500;
const CALL: Duration = Duration::from_secs(5);
/// Between full batches, for others to get at the table.
const BREATH: Duration = Duration::from_millis(20);

/// Prunes for ever.
pub(super) async fn prune(store: Arc<dyn Store>) {
    loop {
        let jitter = f64::from(getrandom::u32().unwrap_or(0)) / f64::from(u32::MAX);
        sleep(LOOK.mul_f64(0.5 + jitter)).await;
        let mut pruned = 0;
        loop {
            let pruning = timeout(CALL, store.prune(BATCH)).await;
            let pruning = pruning.unwrap_or_else(|_| {
                Err(StoreError::no_answer(
                    store.name(),
                    "delete ended jobs",
                    CALL,
                ))
            });
            match pruning {
                Ok(batch) => {
                    pruned += batch;
                    if batch < BATCH {
                        break;
                    }
                    sleep(BREATH).await;
                }
                Err(error) => {
                    tracing::debug!("ended jobs are not deleted, later again: {error}");
                    break;
                }
            }
        }
        if pruned > 0 {
            tracing::debug!(pruned, "deleted ended jobs");
        }
    }
}
