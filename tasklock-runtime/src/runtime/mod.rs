//! The runtime as an application sees it.

mod builder;
mod choices;
mod figures;
mod preview;
mod schedules;
mod settings;
mod source;
mod start;
mod version;

pub use builder::RuntimeBuilder;
pub use preview::preview;
pub use start::run;

use std::fmt;
#[cfg(any(test, feature = "testing"))]
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::client::Client;
use crate::error::Error;
#[cfg(any(test, feature = "testing"))]
use crate::lease::HandClock;
#[cfg(any(test, feature = "testing"))]
use crate::run::ByHand;
use crate::run::{Events, Worker};

/// A worker that is ready: connected, its tables in place, its tasks checked.
///
/// ```no_run
/// use tasklock_runtime::Runtime;
///
/// # async fn main_() -> Result<(), tasklock_runtime::Error> {
/// let runtime = Runtime::builder()
///     .database_url("postgres://app@localhost/app")
///     .concurrency(16)
///     .build()
///     .await?;
/// let client = runtime.client(); // for the rest of the application
/// runtime.run().await
/// # }
/// ```
#[derive(Debug)]
pub struct Runtime {
    worker: Worker,
}

impl Runtime {
    /// A runtime whose every option can be set.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder::default()
    }

    /// Runs the tasks until SIGTERM or Ctrl-C, or until a [`ShutdownHandle`] says so; then drains.
    ///
    /// Stopping takes at most 2 s for a look at the store that is under way, the `shutdown_grace`, 5 s for
    /// the last writes and 5 s to close the connections. Handlers are told at once ([`LeaseContext::shutdown`](crate::LeaseContext::shutdown)),
    /// may end by themselves during the grace period, and are dropped after it; a lease is given back
    /// only when its handler has ended or was dropped. A second signal ends the grace period.
    ///
    /// A blocking handler that goes on is waited for until then, and this returns: its lease is lost to it, is not
    /// given back, and expires. Its thread goes on, and where tokio's runtime is dropped, as at the end of
    /// `#[tokio::main]`, the process waits for it; `shutdown_background` of tokio's `Runtime` does not.
    ///
    /// A handler that panics has failed, and its message and place are recorded. For the place, a panic hook is
    /// installed, once for the process, that calls the hook before it. A destructor that panics while its
    /// handler is unwinding ends the process, by Rust's own rule, and so does any panic under
    /// `panic = "abort"`: then the leases expire.
    ///
    /// # Errors
    ///
    /// Where the store refuses the first writes, or the operating system a thread or a signal. Once it
    /// runs, trouble with the store is logged and waited out.
    pub async fn run(self) -> Result<(), Error> {
        self.worker.run().await
    }

    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn publisher(&self) -> crate::run::Publisher {
        self.worker.events.clone()
    }

    /// The worker that it would run, for a test to move by hand.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn by_hand(self, clock: Arc<HandClock>) -> Result<ByHand, Error> {
        self.worker.by_hand(clock)
    }

    /// A reader of what happens to the runs of this process, from now on: claimed, started, lost, finished,
    /// retried, dead, and so on. Any number of readers; each has all events. What happens on other replicas is
    /// not among them: the jobs in the store tell that.
    ///
    /// A reader never holds up a run: one that falls more than 1,024 events behind is told how many it has
    /// missed.
    ///
    /// ```no_run
    /// # use tasklock_runtime::{Error, EventKind, Runtime};
    /// # async fn main_() -> Result<(), Error> {
    /// let runtime = Runtime::builder().build().await?;
    /// let mut events = runtime.events();
    /// tokio::spawn(async move {
    ///     while let Some(event) = events.recv().await {
    ///         match event {
    ///             Ok(event) if matches!(event.kind, EventKind::Dead { .. }) => {
    ///                 eprintln!("job {} of {} is dead", event.job, event.task);
    ///             }
    ///             Ok(_) => {}
    ///             Err(missed) => eprintln!("{missed}"),
    ///         }
    ///     }
    /// });
    /// runtime.run().await
    /// # }
    /// ```
    pub fn events(&self) -> Events {
        self.worker.events.reader()
    }

    /// A client on the same store.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::of(
            self.worker.heart.clone(),
            self.worker.settings.name.clone(),
            self.worker.stop.clone(),
            self.worker.settings.payload_limit,
        )
    }

    /// A handle that stops the runtime.
    #[must_use]
    pub fn shutdown_handle(&self) -> ShutdownHandle {
        ShutdownHandle(self.worker.stop.clone())
    }
}

/// Stops a [`Runtime`] from elsewhere. Cheap to clone; dropping it does nothing.
#[derive(Clone)]
pub struct ShutdownHandle(CancellationToken);

impl ShutdownHandle {
    /// Tells the runtime to stop, as a first SIGTERM does. Does not wait: `run()` returns when the
    /// runtime has stopped.
    pub fn shutdown(&self) {
        self.0.cancel();
    }
}

impl fmt::Debug for ShutdownHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShutdownHandle")
            .field("shutting_down", &self.0.is_cancelled())
            .finish()
    }
}
