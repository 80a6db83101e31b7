//! The lease of a handler that is a plain function: the same calls, which block its thread instead of
//! waiting.
//!
//! They drive their futures on the calling thread, within the tokio runtime that the worker runs on.
//! Timers and sockets are that runtime's, and only move while it is driven, which it is while
//! [`Runtime::run`](crate::Runtime::run) goes on; also a current-thread runtime, whose one thread is not
//! the one that is blocked.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tokio::runtime::Handle;

use super::context::{LeaseContext, RenewError};
use super::guard::{CommitError, GuardedTransaction};
use super::lost::LeaseLost;

/// For handlers that are plain functions, and for threads. [`check`](LeaseContext::check),
/// [`is_lost`](LeaseContext::is_lost) and [`is_shutting_down`](LeaseContext::is_shutting_down) never wait
/// and are the same for both.
impl LeaseContext {
    /// Like [`renew`](Self::renew), blocking the thread until the store has answered.
    ///
    /// # Panics
    ///
    /// In async code, whose thread must not be blocked: `renew().await` there.
    ///
    /// # Errors
    ///
    /// As [`renew`](Self::renew).
    #[track_caller]
    pub fn blocking_renew(&self) -> Result<(), RenewError> {
        self.block_on("blocking_renew()", "renew().await", self.renew())
    }

    /// Waits until the lease is lost, and says why, as [`lost`](Self::lost) does, blocking the thread. For a
    /// thread that watches over others: a handler's own thread asks [`check`](Self::check).
    ///
    /// # Panics
    ///
    /// In async code, whose thread must not be blocked: `lost().await` there.
    #[track_caller]
    pub fn blocking_lost(&self) -> LeaseLost {
        self.block_on("blocking_lost()", "lost().await", self.lost())
    }

    /// Like [`commit`](Self::commit), blocking the thread. The transaction is begun and used in the same
    /// way, by `tokio::runtime::Handle::current().block_on(…)`.
    ///
    /// # Panics
    ///
    /// In async code, whose thread must not be blocked: `commit(tx).await` there.
    ///
    /// # Errors
    ///
    /// As [`commit`](Self::commit).
    #[track_caller]
    pub fn blocking_commit(&self, tx: impl GuardedTransaction) -> Result<(), CommitError> {
        self.block_on("blocking_commit(tx)", "commit(tx).await", self.commit(tx))
    }

    /// Like [`complete_in`](Self::complete_in), blocking the thread.
    ///
    /// # Panics
    ///
    /// In async code, whose thread must not be blocked: `complete_in(tx).await` there.
    ///
    /// # Errors
    ///
    /// As [`complete_in`](Self::complete_in).
    #[track_caller]
    pub fn blocking_complete_in(&self, tx: impl GuardedTransaction) -> Result<(), CommitError> {
        let done = self.complete_in(tx);
        self.block_on("blocking_complete_in(tx)", "complete_in(tx).await", done)
    }

    #[track_caller]
    pub(crate) fn block_on<F: Future>(&self, called: &str, instead: &str, future: F) -> F::Output {
        let runtime = self.runtime().cloned().unwrap_or_else(Handle::current);
        // Tokio has no way to ask. Its own panic does not say what to write instead.
        let free = catch_unwind(AssertUnwindSafe(|| runtime.block_on(async {})));
        assert!(
            free.is_ok(),
            "`{called}` would block a thread that drives async code, and with it whatever else runs there: \
             write `{instead}`"
        );
        runtime.block_on(future)
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::time::Duration;

    use tokio::runtime::{Builder, Runtime};
    use tokio::task::spawn_blocking;

    use super::*;
    use crate::lease::testing;

    fn runtimes() -> io::Result<[Runtime; 2]> {
        Ok([
            Builder::new_current_thread().enable_all().build()?,
            Builder::new_multi_thread()
                .worker_threads(1)
                .enable_all()
                .build()?,
        ])
    }

    #[test]
    fn a_blocking_thread_renews_on_every_runtime() -> io::Result<()> {
        for runtime in runtimes()? {
            runtime.block_on(async {
                let (lease, _status, mut asked) = testing::lease();
                let renewing = spawn_blocking(move || lease.blocking_renew());
                let request = asked.recv().await;
                let answered = request.map(|request| request.reply.send(Ok(())));
                assert_eq!(answered, Some(Ok(())));
                assert_eq!(renewing.await.ok(), Some(Ok(())));
            });
        }
        Ok(())
    }

    /// Which tokio knows nothing of.
    #[test]
    fn so_does_any_other_thread() -> io::Result<()> {
        for runtime in runtimes()? {
            runtime.block_on(async {
                let (lease, _status, mut asked) = testing::lease();
                let renewing = std::thread::spawn(move || lease.blocking_renew());
                let request = asked.recv().await;
                let lost = RenewError::Unconfirmed("it is busy".into());
                let answered = request.map(|request| request.reply.send(Err(lost.clone())));
                assert_eq!(answered, Some(Ok(())));
                assert_eq!(renewing.join().ok(), Some(Err(lost)));
            });
        }
        Ok(())
    }

    #[test]
    fn a_blocking_thread_hears_of_the_loss() -> io::Result<()> {
        for runtime in runtimes()? {
            runtime.block_on(async {
                let (lease, status, _asked) = testing::lease();
                let waiting = spawn_blocking(move || lease.blocking_lost());
                status.lose(LeaseLost::TakenOver);
                assert_eq!(waiting.await.ok(), Some(LeaseLost::TakenOver));
            });
        }
        Ok(())
    }

    /// A short deadline, which nothing but a timer of the runtime's wakes it for.
    #[test]
    fn a_blocking_thread_has_the_runtimes_timers() -> io::Result<()> {
        for runtime in runtimes()? {
            runtime.block_on(async {
                let (lease, ..) = testing::lease_for(Duration::from_millis(50));
                let waiting = spawn_blocking(move || lease.blocking_lost());
                assert_eq!(waiting.await.ok(), Some(LeaseLost::Expired));
            });
        }
        Ok(())
    }

    #[test]
    fn in_async_code_it_says_what_to_write() -> io::Result<()> {
        for runtime in runtimes()? {
            let text = runtime.block_on(async {
                let (lease, ..) = testing::lease();
                let renewing = tokio::spawn(async move { lease.blocking_renew() });
                let panic = renewing.await.err().map(tokio::task::JoinError::into_panic);
                panic.and_then(|panic| panic.downcast::<String>().ok())
            });
            let text = text.map(|text| *text).unwrap_or_default();
            assert!(text.contains("write `renew().await`"), "{text}");
        }
        Ok(())
    }
}
