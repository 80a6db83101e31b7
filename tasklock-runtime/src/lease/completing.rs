//! A handler that ends its job by its own hand.

use std::sync::atomic::{AtomicU8, Ordering};

/// Whether the handler completes its job itself, in a transaction of its own.
#[derive(Debug, Default)]
pub(crate) struct Completing(AtomicU8);

impl Completing {
    const NO: u8 = 0;
    const BEGUN: u8 = 1;
    const SEALED: u8 = 2;
    const FAILED: u8 = 3;
    const DONE: u8 = 4;

    /// A transaction is on its way that ends the job.
    pub(super) fn begin(&self) {
        self.0.store(Self::BEGUN, Ordering::Release);
    }

    /// Its COMMIT is about to be sent; the lease is lost from here on.
    pub(super) fn seal(&self) {
        self.0.store(Self::SEALED, Ordering::Release);
    }

    /// It was committed, or it was not, as far as is known.
    pub(super) fn settle(&self, done: bool) {
        let sealed = self.0.load(Ordering::Acquire) == Self::SEALED;
        let state = match (done, sealed) {
            (true, _) => Self::DONE,
            (false, true) => Self::FAILED,
            (false, false) => Self::NO,
        };
        self.0.store(state, Ordering::Release);
    }

    /// Whether the job's end is written.
    pub(crate) fn is_done(&self) -> bool {
        self.0.load(Ordering::Acquire) == Self::DONE
    }

    /// Whether the lease was given up for a COMMIT that is not known to have been carried out: the row
    /// may still be ours to give back.
    pub(crate) fn is_in_doubt(&self) -> bool {
        matches!(self.0.load(Ordering::Acquire), Self::SEALED | Self::FAILED)
    }

    /// Whether the lease may be lost by the handler's own hand: then the handler goes on.
    pub(crate) fn may_be_done(&self) -> bool {
        self.0.load(Ordering::Acquire) != Self::NO
    }
}
