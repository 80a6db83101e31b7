//! A handler's future, whose panics are outcomes.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::task::{Outcome, RunFuture, caught};

/// Ends with [`Outcome::Panicked`] where the handler panics, at whatever point: when it is called, when it
/// is polled, and when it is dropped, before its end or after it. It is never polled again.
pub(crate) struct CatchUnwind(State);

enum State {
    Running(RunFuture),
    /// It panicked before there was a future.
    Stillborn(String),
    Over,
}

impl CatchUnwind {
    /// Calls the handler, which does not run before it is polled.
    pub(crate) fn start(handler: impl FnOnce() -> RunFuture) -> Self {
        Self(match caught(handler) {
            Ok(future) => State::Running(future),
            Err(message) => State::Stillborn(message),
        })
    }

    /// Drops the handler now; a panic in one of its destructors is answered, not passed on.
    pub(crate) fn cancel(&mut self) -> Option<Outcome> {
        let state = std::mem::replace(&mut self.0, State::Over);
        caught(|| drop(state)).err().map(Outcome::Panicked)
    }
}

impl Future for CatchUnwind {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        let future = match &mut self.0 {
            State::Running(future) => future,
            State::Stillborn(message) => {
                let message = std::mem::take(message);
                self.0 = State::Over;
                return Poll::Ready(Outcome::Panicked(message));
            }
            State::Over => return Poll::Pending,
        };
        match caught(|| future.as_mut().poll(cx)) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(outcome)) => Poll::Ready(self.cancel().unwrap_or(outcome)),
            Err(message) => {
                self.cancel();
                Poll::Ready(Outcome::Panicked(message))
            }
        }
    }
}

impl Drop for CatchUnwind {
    fn drop(&mut self) {
        self.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::install_panic_hook;

    struct PanicsInDrop;

    impl Drop for PanicsInDrop {
        fn drop(&mut self) {
            panic!("in drop");
        }
    }

    fn start(handler: impl FnOnce() -> RunFuture) -> CatchUnwind {
        install_panic_hook();
        CatchUnwind::start(handler)
    }

    fn is_panic(outcome: Option<Outcome>, message: &str) -> bool {
        let start = format!("{message} at {}:", file!());
        matches!(outcome, Some(Outcome::Panicked(text)) if text.starts_with(&start))
    }

    #[tokio::test]
    async fn a_panic_is_an_outcome() {
        let outcome = start(|| Box::pin(async { panic!("no {}", 1) })).await;
        assert!(is_panic(Some(outcome), "no 1"));
        let outcome = start(|| panic!("before it began")).await;
        assert!(is_panic(Some(outcome), "before it began"));
    }

    #[tokio::test]
    async fn a_panic_in_a_destructor_is_an_outcome() {
        let mut run = start(|| {
            Box::pin(async {
                let _held = PanicsInDrop;
                std::future::pending().await
            })
        });
        let poll = std::future::poll_fn(|cx| Poll::Ready(Pin::new(&mut run).poll(cx))).await;
        assert_eq!(poll, Poll::Pending);
        assert!(is_panic(run.cancel(), "in drop"));
        drop(run);
    }

    /// What the future holds may outlive its end, up to its own drop.
    #[tokio::test]
    async fn a_panic_in_a_destructor_after_the_end_is_an_outcome() {
        struct Ends(#[allow(dead_code)] PanicsInDrop);
        impl Future for Ends {
            type Output = Outcome;
            fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Outcome> {
                Poll::Ready(Outcome::Succeeded)
            }
        }
        let outcome = start(|| Box::pin(Ends(PanicsInDrop))).await;
        assert!(is_panic(Some(outcome), "in drop"));

        struct Panics(#[allow(dead_code)] PanicsInDrop);
        impl Future for Panics {
            type Output = Outcome;
            fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Outcome> {
                panic!("in poll")
            }
        }
        let outcome = start(|| Box::pin(Panics(PanicsInDrop))).await;
        assert!(is_panic(Some(outcome), "in poll"));
    }

    #[tokio::test]
    async fn dropping_it_does_not_panic() {
        drop(start(|| {
            let held = PanicsInDrop;
            Box::pin(async move {
                let _held = held;
                Outcome::Succeeded
            })
        }));
    }
}
