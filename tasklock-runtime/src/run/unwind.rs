//! Panics of handlers, turned into values.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::task::{Outcome, RunFuture};

/// A handler's future that ends with [`Outcome::Panicked`] where the handler panics. Unwind safety is
/// asserted: the future is never polled again, and what it shares with others is theirs to poison.
pub(crate) struct CatchUnwind(Option<RunFuture>);

impl CatchUnwind {
    pub(crate) fn new(future: RunFuture) -> Self {
        Self(Some(future))
    }

    /// Drops the handler now; a panic in one of its destructors is answered, not passed on.
    pub(crate) fn cancel(&mut self) -> Option<Outcome> {
        let future = self.0.take();
        catch_unwind(AssertUnwindSafe(|| drop(future)))
            .err()
            .map(|panic| Outcome::Panicked(message(panic)))
    }
}

impl Future for CatchUnwind {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        let Some(future) = self.0.as_mut() else {
            return Poll::Pending;
        };
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(outcome)) => Poll::Ready(self.cancel().unwrap_or(outcome)),
            Err(panic) => {
                let outcome = Outcome::Panicked(message(panic));
                self.cancel();
                Poll::Ready(outcome)
            }
        }
    }
}

impl Drop for CatchUnwind {
    fn drop(&mut self) {
        self.cancel();
    }
}

fn message(panic: Box<dyn Any + Send>) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    // Dropping the payload runs code of the handler's, which may panic again.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(panic)));
    text.map_or_else(
        || "with a value that is no text".to_owned(),
        |text| crate::task::bounded(&text).to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    struct PanicsInDrop;

    impl Drop for PanicsInDrop {
        fn drop(&mut self) {
            panic!("in drop");
        }
    }

    #[tokio::test]
    async fn a_panic_is_an_outcome() {
        let outcome = CatchUnwind::new(Box::pin(async { panic!("no {}", 1) })).await;
        assert_eq!(outcome, Outcome::Panicked("no 1".into()));
    }

    #[tokio::test]
    async fn a_panic_in_a_destructor_is_an_outcome() {
        let mut run = CatchUnwind::new(Box::pin(async {
            let _held = PanicsInDrop;
            std::future::pending().await
        }));
        let poll = std::future::poll_fn(|cx| Poll::Ready(Pin::new(&mut run).poll(cx))).await;
        assert_eq!(poll, Poll::Pending);
        assert_eq!(run.cancel(), Some(Outcome::Panicked("in drop".into())));
    }
}
