//! Commits under a lease that no database holds.
//!
//! Only tests have such leases: a transaction of whatever database is then committed while the lease is
//! held, by what this process knows of it, and there is no row that would keep a takeover from passing it.
//! Without the feature `testing` nothing of this is compiled.

#[cfg(any(test, feature = "testing"))]
pub(crate) use real::Unguarded;

#[cfg(any(test, feature = "testing"))]
mod real {
    use crate::lease::{Anchor, CommitError, LeaseLost};

    /// What stands in the place of the row.
    pub(crate) struct Unguarded {
        is_held: Box<dyn Fn() -> bool + Send + Sync>,
        complete: Box<dyn Fn() + Send + Sync>,
    }

    /// Only the SQL stores ask.
    #[cfg_attr(not(sql), allow(dead_code))]
    impl Unguarded {
        /// Asks the one before the COMMIT, and tells the other after it where the job ends with it.
        pub(crate) fn new(
            is_held: impl Fn() -> bool + Send + Sync + 'static,
            complete: impl Fn() + Send + Sync + 'static,
        ) -> Self {
            Self {
                is_held: Box::new(is_held),
                complete: Box::new(complete),
            }
        }

        pub(crate) fn of(anchor: &Anchor) -> Option<&Self> {
            anchor.downcast_ref()
        }

        pub(crate) fn hold(&self) -> Result<(), CommitError> {
            if (self.is_held)() {
                Ok(())
            } else {
                Err(CommitError::Lost(LeaseLost::TakenOver))
            }
        }

        pub(crate) fn complete(&self) {
            (self.complete)();
        }
    }
}

#[cfg(not(any(test, feature = "testing")))]
#[cfg(sql)]
pub(crate) use absent::Unguarded;

#[cfg(not(any(test, feature = "testing")))]
#[cfg(sql)]
mod absent {
    use crate::lease::{Anchor, CommitError};

    /// There is none.
    pub(crate) enum Unguarded {}

    impl Unguarded {
        pub(crate) fn of(_anchor: &Anchor) -> Option<&Self> {
            None
        }

        pub(crate) fn hold(&self) -> Result<(), CommitError> {
            match *self {}
        }

        pub(crate) fn complete(&self) {
            match *self {}
        }
    }
}
