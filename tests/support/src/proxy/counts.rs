//! What has gone through.

use std::sync::atomic::{AtomicU64, Ordering};

/// A [`Proxy`](super::Proxy)'s figures since its start. Bytes count once they have been passed
/// on: so it can be waited for, and a client may have its reply an instant before it is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Connections to the server.
    pub connections: u64,
    /// Those of them that are open now.
    pub open: u64,
    /// Connections that were reset at once, by [`Mode::Refuse`](super::Mode::Refuse) or since the
    /// server could not be reached.
    pub refused: u64,
    /// Bytes that the server got.
    pub requests: u64,
    /// Bytes that the client got.
    pub replies: u64,
    /// Bytes that the client sent and that were lost.
    pub lost_requests: u64,
    /// Bytes that the server sent and that were lost.
    pub lost_replies: u64,
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) connections: Counter,
    pub(super) closed: Counter,
    pub(super) refused: Counter,
    pub(super) requests: Counter,
    pub(super) replies: Counter,
    pub(super) lost_requests: Counter,
    pub(super) lost_replies: Counter,
}

#[derive(Debug, Default)]
pub(super) struct Counter(AtomicU64);

impl Counter {
    pub(super) fn add(&self, number: usize) {
        // Never fails: a usize has 64 bits at most.
        self.0.fetch_add(number as u64, Ordering::SeqCst);
    }

    fn read(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

impl Counters {
    pub(super) fn read(&self) -> Counts {
        // The closed ones first: so there are never more of them than connections.
        let closed = self.closed.read();
        let connections = self.connections.read();
        Counts {
            connections,
            open: connections - closed,
            refused: self.refused.read(),
            requests: self.requests.read(),
            replies: self.replies.read(),
            lost_requests: self.lost_requests.read(),
            lost_replies: self.lost_replies.read(),
        }
    }
}
