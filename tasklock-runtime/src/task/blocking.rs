//! Handlers that are plain functions.

use std::convert::Infallible;

use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_blocking};

use super::outcome::Outcome;
use super::panics::caught;
use super::registration::RunFuture;

/// Runs a handler on tokio's pool of blocking threads, within the present span.
///
/// Where this future is dropped, a handler that has begun goes on to its end: nothing can stop a thread.
/// One that still waits for a thread never begins.
pub async fn blocking(handler: impl FnOnce() -> Outcome + Send + 'static) -> Outcome {
    let span = tracing::Span::current();
    let watched = WATCHED.try_with(Threads::clone).ok();
    let mut thread = NoLateStart(spawn_blocking(move || {
        let _watched = watched;
        let _entered = span.entered();
        caught(handler).unwrap_or_else(Outcome::Panicked)
    }));
    // It catches its panics: what is left is that the tokio runtime ends before it begins.
    (&mut thread.0).await.unwrap_or(Outcome::Interrupted)
}

struct NoLateStart(JoinHandle<Outcome>);

impl Drop for NoLateStart {
    fn drop(&mut self) {
        self.0.abort();
    }
}

tokio::task_local! {
    static WATCHED: Threads;
}

/// Knows of the threads of one run, also of one whose future was dropped.
#[derive(Clone)]
pub(crate) struct Threads {
    /// The end comes when all of these are gone.
    _left: mpsc::Sender<Infallible>,
}

/// Waits for the threads of a run.
pub(crate) struct ThreadsEnd(mpsc::Receiver<Infallible>);

impl Threads {
    pub(crate) fn new() -> (Self, ThreadsEnd) {
        let (_left, end) = mpsc::channel(1);
        (Self { _left }, ThreadsEnd(end))
    }

    /// The threads that this future begins.
    pub(crate) fn watching(self, run: RunFuture) -> RunFuture {
        Box::pin(WATCHED.scope(self, run))
    }
}

impl ThreadsEnd {
    /// Waits until none is left, nor anything that could begin one.
    pub(crate) async fn wait(mut self) {
        // Nothing can be sent.
        let _ = self.0.recv().await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::task::panics::install_hook;

    #[tokio::test]
    async fn a_plain_function_has_an_outcome() {
        install_hook();
        let here = std::thread::current().id();
        let elsewhere = blocking(move || {
            assert_ne!(std::thread::current().id(), here);
            Outcome::Succeeded
        });
        assert_eq!(elsewhere.await, Outcome::Succeeded);

        let place = format!(" at {}:{}", file!(), line!() + 1);
        let panicked = blocking(|| panic!("no {}", 1)).await;
        assert_eq!(panicked, Outcome::Panicked(format!("no 1{place}")));
    }

    #[test]
    fn what_has_begun_goes_on_and_what_waits_never_begins() -> std::io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .max_blocking_threads(1)
            .build()?;
        let (begun, has_begun) = mpsc::channel();
        let (go_on, may_go_on) = mpsc::channel::<()>();
        let (first_ended, has_ended) = mpsc::channel();
        let second_ended = first_ended.clone();
        runtime.block_on(async {
            let mut first = Box::pin(blocking(move || {
                let _ = begun.send(());
                let _ = may_go_on.recv();
                let _ = first_ended.send("first");
                Outcome::Succeeded
            }));
            let mut second = Box::pin(blocking(move || {
                let _ = second_ended.send("second");
                Outcome::Succeeded
            }));
            assert!(poll(&mut first).await.is_pending());
            assert!(poll(&mut second).await.is_pending());
            assert!(has_begun.recv().is_ok());
            drop((first, second));
            let _ = go_on.send(());
            // The one thread takes them in order: after this, the second had its chance.
            let third = blocking(|| Outcome::Cancelled).await;
            assert_eq!(third, Outcome::Cancelled);
            assert_eq!(has_ended.iter().collect::<Vec<_>>(), ["first"]);
        });
        Ok(())
    }

    async fn poll<F: Future + Unpin>(future: &mut F) -> std::task::Poll<F::Output> {
        std::future::poll_fn(|cx| std::task::Poll::Ready(std::pin::Pin::new(&mut *future).poll(cx)))
            .await
    }
}
