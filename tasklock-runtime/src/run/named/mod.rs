//! Named leases, for code that is no task: a retry by hand, an admin's button, a compensation.
//!
//! # Who writes what
//!
//! An acquisition goes to the store with a fresh token, in one call with those that other callers make meanwhile
//! ([`acquisitions`]), and learns whether it holds the name. From the moment at which its caller has the
//! answer, without an await in between, the heartbeat has the lease, in the same batches as those of the
//! process's runs. The **guard** owns it. When its last clone goes, the belief ends first (whoever still has the
//! context sees it lost), then the heartbeat lets go of it and gives it back, over its own connection: so a guard
//! may be dropped anywhere, also where no runtime and no pool is left. What is given back while the connection is busy goes
//! back together, in the next statement; whoever waits for one of the names is told after that.
//!
//! # What a dropped future leaves behind
//!
//! | dropped | what is left | who mends it |
//! | --- | --- | --- |
//! | before it was sent | nothing | |
//! | while its answer is awaited | perhaps a row of a token nobody works under | given back by token at the answer, if a runtime is there to do it; else its expiry. It is never renewed |
//! | after it | a guard, in the caller's hands or dropped with the future | its drop gives it back |
//!
//! # Waiting
//!
//! In one process those who wait for a name queue up, and only the first of them has a place in the store's line for that
//! name (`store/named.rs`): they get it in the order in which they came. Among processes the order is that of these
//! places, so processes that all want a name have it by turns. Jobs that need the name as their `resource`
//! come after whoever waits here. Whoever gives the name back tells the first one in the line, and nobody else
//! wakes; on SQLite, where nothing is told, all look at the file when it changes, and read only; on MariaDB and MySQL
//! other processes look when they renew their places. A place lasts
//! three seconds and is renewed once a second: so long may a waiting process that has died hold up the next one.
//!
//! # A lease of a run
//!
//! `LeaseContext::lock` acquires for a run: the guard's belief ends with the run's, whatever else becomes of it,
//! and its guarded commits look at the rows of both.

mod acquisitions;
mod ask;
mod doubt;
mod guard;
mod lock;
mod wait;
mod waiting;

use std::sync::Arc;
use std::time::Duration;

use tasklock_grammar::{MAX_NAME_BYTES, Timing, check_name};
use tokio_util::sync::CancellationToken;

use super::heart::Heart;
use crate::error::Error;
use crate::lease::LeaseContext;
pub(super) use acquisitions::Acquisitions;
pub use guard::LeaseGuard;
pub use lock::LockError;
pub(super) use waiting::Waiting;

/// How long one call to the store may take.
const CALL: Duration = Duration::from_secs(5);

/// A named lease that is to be acquired: nothing happens before one of the last two methods is awaited.
#[must_use = "nothing is acquired before `try_acquire().await` or `acquire_within(…).await`"]
#[derive(Debug)]
pub struct LeaseRequest {
    pub(crate) heart: Arc<Heart>,
    pub(crate) name: String,
    pub(crate) worker: String,
    pub(crate) ttl: Option<Duration>,
    pub(crate) shutdown: CancellationToken,
    /// The run that it is for.
    pub(crate) run: Option<LeaseContext>,
}

impl LeaseRequest {
    /// How long the lease lasts without renewal, and so how long a crashed holder blocks the name; default 30 s, at
    /// least 500 ms. It is renewed every third of it, and its loss is signalled a fifth of it before it
    /// expires.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Acquires the lease if nobody holds it or waits for it; `None` if somebody does. Does not wait.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] for a name or a ttl that can be none; [`Error::Store`] if the store does not answer.
    pub async fn try_acquire(self) -> Result<Option<LeaseGuard>, Error> {
        let timing = self.timing()?;
        Ok(self.ask(&timing, None, CALL).await?.ok())
    }

    fn timing(&self) -> Result<Timing, Error> {
        check_name(&self.name).map_err(|error| {
            Error::option(format!("the lease {:?}", self.name), error.to_string())
        })?;
        let timing = Timing::with_defaults(self.ttl, None, None);
        timing.check().map_err(|error| {
            Error::option(format!("the lease {:?}", self.name), error.to_string())
        })?;
        Ok(timing)
    }

    fn fence_name(&self) -> String {
        const KIND: &str = "lease:";
        let most = self.name.floor_char_boundary(MAX_NAME_BYTES - KIND.len());
        if most < self.name.len() {
            // A name as long as a name may be has no room for the word; no task's name can begin with this.
            return format!("lease:{:016x}", hash(&self.name));
        }
        format!("{KIND}{}", self.name)
    }
}

/// FNV-1a: the same in every process.
fn hash(name: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}
