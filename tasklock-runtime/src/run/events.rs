//! What happens to the runs of this process, for whoever listens.
//!
//! Readers share one bounded buffer. A run that tells of an event writes it there, if anybody reads at all,
//! and goes on: no reader can hold up a run, and one that falls behind by more than the buffer is told how
//! much it has missed.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::lease::LeaseLost;

/// How many events a reader may be behind.
const BUFFER: usize = 1024;

/// Something that has happened to a run of this process. Never with a payload.
///
/// # Order
///
/// The events of one run come in this order: `Claimed`; `Started`, unless it was not started; `Lost`, at most
/// once and at whatever point the loss became known; and last one that [ends it](EventKind::is_end). Those of
/// different runs come as they happen. A run that is dropped with the future of
/// [`Runtime::run`](crate::Runtime::run), or that outlasts it, has no end here, and neither has one whose process dies.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// The task's name.
    pub task: &'static str,
    /// The job's id.
    pub job: i64,
    /// Which attempt at it the run is, from 1.
    pub attempt: u32,
    /// The run's fence.
    pub fence: i64,
    /// What has happened.
    pub kind: EventKind,
}

/// What has happened to a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// The job is this process's, and its lease is kept alive from here on.
    #[non_exhaustive]
    Claimed {
        /// Whether from an owner whose lease had expired.
        takeover: bool,
    },
    /// Its handler is called, and what [wraps](crate::RuntimeBuilder::around) it.
    Started,
    /// Its lease is lost, and why; told when it becomes known, while the handler may still go on.
    Lost(LeaseLost),
    /// It has succeeded, and that is written.
    Finished,
    /// It has failed, and the job is tried again.
    #[non_exhaustive]
    Retried {
        /// So long after its end.
        after: Duration,
        /// What went wrong, as it stands in [`Job::last_error`](crate::Job::last_error).
        error: String,
    },
    /// It has failed, and no attempt is left for this slot: the task waits for its next one.
    #[non_exhaustive]
    Failed {
        /// What went wrong.
        error: String,
    },
    /// The job runs again later by its handler's wish ([`Snooze`](crate::Snooze)).
    #[non_exhaustive]
    Snoozed {
        /// So long after its end.
        after: Duration,
    },
    /// It has failed, and the job is dead: no attempt is left, or it was discarded, or it is poison.
    #[non_exhaustive]
    Dead {
        /// What went wrong.
        error: String,
    },
    /// Its slot was missed, and by the task's `missed` or `catch_up` it was not run.
    #[non_exhaustive]
    Skipped {
        /// How many slots are skipped, this one and others that were missed with it.
        slots: u32,
    },
    /// The job is cancelled.
    Cancelled,
    /// It was not made, or not to its end, for the process stops; the job was given back.
    Released,
    /// It has ended, and nothing of that is written: its lease was lost, or the store did not take its end in
    /// time. The job runs again, or does so elsewhere already.
    Abandoned,
}

impl EventKind {
    /// Whether it is the last event of its run.
    #[must_use]
    pub const fn is_end(&self) -> bool {
        !matches!(self, Self::Claimed { .. } | Self::Started | Self::Lost(_))
    }

    /// As a word for logs and metrics: `claimed`, `started`, `lost`, `finished`, `retried`, `failed`,
    /// `snoozed`, `dead`, `skipped`, `cancelled`, `released` or `abandoned`.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Claimed { .. } => "claimed",
            Self::Started => "started",
            Self::Lost(_) => "lost",
            Self::Finished => "finished",
            Self::Retried { .. } => "retried",
            Self::Failed { .. } => "failed",
            Self::Snoozed { .. } => "snoozed",
            Self::Dead { .. } => "dead",
            Self::Skipped { .. } => "skipped",
            Self::Cancelled => "cancelled",
            Self::Released => "released",
            Self::Abandoned => "abandoned",
        }
    }
}

/// A reader of [`Runtime::events`](crate::Runtime::events).
#[must_use = "events are told to those who read them"]
pub struct Events(broadcast::Receiver<Event>);

impl Events {
    /// The next event; `None` when the runtime has ended and all of its events were read. A reader that has fallen
    /// behind is told how many it has missed, and reads on with the oldest that is left. May be dropped
    /// and called again: no event is lost by that.
    pub async fn recv(&mut self) -> Option<Result<Event, Missed>> {
        match self.0.recv().await {
            Ok(event) => Some(Ok(event)),
            Err(RecvError::Lagged(events)) => Some(Err(Missed(events))),
            Err(RecvError::Closed) => None,
        }
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events")
            .field("waiting", &self.0.len())
            .finish_non_exhaustive()
    }
}

/// So many events were not read in time, by a reader that was more than 1,024 behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missed(pub u64);

impl fmt::Display for Missed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} events were missed: read them faster", self.0)
    }
}

impl std::error::Error for Missed {}

/// Where the runs of a process tell of themselves. It has no buffer before there is a reader.
#[derive(Debug, Clone, Default)]
pub(crate) struct Publisher(Arc<OnceLock<broadcast::Sender<Event>>>);

impl Publisher {
    pub(crate) fn reader(&self) -> Events {
        let sender = self.0.get_or_init(|| broadcast::Sender::new(BUFFER));
        Events(sender.subscribe())
    }

    /// Tells of an event, which is made only if anybody reads.
    pub(super) fn publish(&self, event: impl FnOnce() -> Event) {
        if let Some(sender) = self.0.get()
            && sender.receiver_count() > 0
        {
            // An error means that the last reader has gone since.
            let _ = sender.send(event());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(job: i64) -> Event {
        Event {
            task: "task",
            job,
            attempt: 1,
            fence: 1,
            kind: EventKind::Started,
        }
    }

    #[tokio::test]
    async fn a_reader_that_lags_is_told_by_how_much() {
        let publisher = Publisher::default();
        let mut events = publisher.reader();
        for job in 0..1024 + 7 {
            publisher.publish(|| event(job));
        }
        drop(publisher);
        assert_eq!(events.recv().await, Some(Err(Missed(7))));
        let mut next = 7;
        while let Some(received) = events.recv().await {
            assert_eq!(received, Ok(event(next)));
            next += 1;
        }
        assert_eq!(next, 1024 + 7);
    }

    #[test]
    fn nothing_is_made_that_nobody_reads() {
        let publisher = Publisher::default();
        publisher.publish(|| panic!("nobody has ever read"));
        drop(publisher.reader());
        publisher.publish(|| panic!("nobody reads any more"));
    }
}
