//! Named leases, for code that is no task: a retry by hand, an admin's button, a compensation.
//!
//! # Who writes what
//!
//! An acquisition sends one statement with a fresh token, and learns at once whether it holds the name. From the
//! answer on, without an await in between, the heartbeat has the lease, in the same batches as those of the
//! process's runs. The **guard** owns it. When its last clone goes, the belief ends first (whoever still has the
//! context sees it lost), then the heartbeat lets go of it and gives it back, over its own connection: so a guard
//! may be dropped anywhere, also where no runtime and no pool is left.
//!
//! # What a dropped future leaves behind
//!
//! | dropped | what is left | who mends it |
//! | --- | --- | --- |
//! | before the statement was sent | nothing | |
//! | while its answer is awaited | perhaps a row of a token nobody works under | given back by token, if a runtime is there to do it; else its expiry. It is never renewed |
//! | after it | a guard, in the caller's hands or dropped with the future | its drop gives it back |
//!
//! # Waiting
//!
//! In one process waiters for a name queue up, and only the first one asks the store: they get it in the order in which
//! they came. It asks when something was given back (as far as the store announces that), when the lease that it
//! has met expires, and once a second. Among processes there is no order: whoever asks first has it.

mod guard;
mod waiting;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tasklock_grammar::{MAX_NAME_BYTES, Timing, check_name};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::heart::Heart;
use super::heartbeat::{Heartbeat, Kept};
use crate::error::{Error, StoreError};
use crate::lease::{
    Completing, ContextParts, LeaseContext, LeaseKey, LeaseStatus, Moment, OwnerToken, Trust,
};
use crate::store::{Acquire, Acquired, Finish, Store};
use crate::task::{Next, OnLost, Outcome, Then};
use guard::Held;
pub use guard::LeaseGuard;
pub(super) use waiting::Waiting;
use waiting::Watch;

/// The longest that a waiting acquisition does not ask.
const POLL: Duration = Duration::from_secs(1);
/// The shortest, and what it doubles from where the lease may be free and yet cannot be had.
const LEAST: Duration = Duration::from_millis(25);
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
}

impl LeaseRequest {
    /// How long the lease lasts without renewal, and so how long a crashed holder blocks the name; default 30 s, at
    /// least 500 ms. It is renewed every third of it, and its loss is signalled a fifth of it before it
    /// expires.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Acquires the lease if nobody holds it; `None` if somebody does. Does not wait.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] for a name or a ttl that can be none; [`Error::Store`] if the store does not answer.
    pub async fn try_acquire(self) -> Result<Option<LeaseGuard>, Error> {
        let timing = self.timing()?;
        Ok(self.ask(&timing, CALL).await?.ok())
    }

    /// Waits for the lease, this long at most; `None` if it was not free within it. In one process waiters get it in
    /// the order in which they came. Errors of the store are waited out.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] for a name or a ttl that can be none; the store's last error, if it has not answered
    /// a single time.
    pub async fn acquire_within(self, longest: Duration) -> Result<Option<LeaseGuard>, Error> {
        let timing = self.timing()?;
        let end = Instant::now() + longest.min(Duration::from_secs(86_400 * 365));
        let queue = self.heart.queue(&self.name);
        let Ok(_turn) = timeout_at(end, queue.lock()).await else {
            return Ok(None);
        };
        let mut watching: Option<(Arc<Watch>, watch::Receiver<()>)> = None;
        let mut failure = None;
        let mut answered = false;
        let mut pause = LEAST;
        loop {
            if let Some((_, announced)) = &mut watching {
                announced.mark_unchanged();
            }
            let call = CALL.min((end - Instant::now()).max(LEAST));
            let left = match self.ask(&timing, call).await {
                Ok(Ok(guard)) => return Ok(Some(guard)),
                Ok(Err(left)) => {
                    answered = true;
                    left
                }
                Err(error) => {
                    failure = Some(error);
                    POLL
                }
            };
            if Instant::now() >= end {
                return match failure {
                    Some(error) if !answered => Err(error),
                    _ => Ok(None),
                };
            }
            // Not before there is something to wait for. What is given back until it listens it tells as well.
            let (_, announced) = watching.get_or_insert_with(|| {
                let watch = self.heart.watch();
                let announced = watch.announcements.subscribe();
                (watch, announced)
            });
            // Never in a circle: announcements may be of anything, and what may be free may be locked.
            pause = if left.is_zero() {
                (pause * 2).min(POLL)
            } else {
                LEAST
            };
            sleep_until((Instant::now() + pause).min(end)).await;
            // A little late, so that the lease has expired by then.
            let nap = left.min(POLL).saturating_sub(pause) + Duration::from_millis(5);
            tokio::select! {
                changed = announced.changed() => {
                    if changed.is_err() {
                        sleep(nap).await;
                    }
                }
                () = sleep_until((Instant::now() + nap).min(end)) => {}
            }
        }
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

    /// Asks the store once; answers the guard, or for how long somebody else has the lease.
    async fn ask(
        &self,
        timing: &Timing,
        call: Duration,
    ) -> Result<Result<LeaseGuard, Duration>, Error> {
        let store = self.heart.store();
        let heartbeat = self.heart.beat()?;
        let wanted = Acquire {
            name: self.name.clone(),
            owner: OwnerToken::fresh(),
            worker: self.worker.clone(),
            ttl: timing.ttl,
        };
        let doubt = Doubt {
            store: Arc::clone(store),
            owner: Some(wanted.owner.clone()),
        };
        let _turn = self.heart.turn().await;
        let sent = self.heart.clock().now();
        let answer = timeout(call, store.acquire(std::slice::from_ref(&wanted))).await;
        let answer = match answer {
            Ok(answer) => answer?,
            Err(_) => {
                return Err(StoreError::no_answer(store.name(), "acquire a lease", call).into());
            }
        };
        match answer.into_iter().next() {
            Some(Acquired::Granted(key)) => {
                let guard = self.grant(key, timing, sent, heartbeat);
                doubt.resolved();
                if guard.check().is_err() {
                    // It came too late to be trusted: dropping it gives it back.
                    return Ok(Err(Duration::ZERO));
                }
                Ok(Ok(guard))
            }
            Some(Acquired::Held(left)) => {
                doubt.resolved();
                Ok(Err(left))
            }
            None => {
                doubt.resolved();
                Ok(Err(Duration::ZERO))
            }
        }
    }

    fn grant(
        &self,
        key: LeaseKey,
        timing: &Timing,
        sent: Moment,
        heartbeat: Arc<Heartbeat>,
    ) -> LeaseGuard {
        let trust = Trust::of(timing);
        let clock = self.heart.clock();
        let status = Arc::new(LeaseStatus::held(trust.deadline(sent), Arc::clone(clock)));
        let name: Arc<str> = self.name.as_str().into();
        let keeping = heartbeat.keep(Kept {
            task: Arc::clone(&name),
            key: key.clone(),
            resource: None,
            ttl: timing.ttl,
            heartbeat: timing.heartbeat,
            trust,
            on_lost: OnLost::Signal,
            status: Arc::clone(&status),
            granted: sent,
        });
        let context = LeaseContext::new(ContextParts {
            fence_name: self.fence_name().into(),
            task: name,
            key: key.clone(),
            attempt: 1,
            scheduled_for: Timestamp::now(),
            status: Arc::clone(&status),
            shutdown: self.shutdown.clone(),
            renewals: heartbeat.renewals(),
            anchors: vec![self.heart.store().anchor(
                // A transaction that completes it gives it back.
                Finish {
                    key,
                    then: Then::Slot(Next::Dormant),
                    outcome: Outcome::Succeeded.as_str(),
                    error: None,
                    hold: None,
                    frees_place: true,
                    resource: None,
                },
                timing.ttl,
            )],
            resource: None,
            home: Arc::new(()),
            completion: Completing::default(),
        });
        LeaseGuard(Arc::new(Held {
            context,
            status,
            keeping: Some(keeping),
            ttl: timing.ttl,
            heart: Arc::clone(&self.heart),
            _heartbeat: heartbeat,
        }))
    }
}

/// FNV-1a: the same in every process.
fn hash(name: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// An acquisition whose answer is not known: what it may have taken is given back, if a runtime is there to do it.
struct Doubt {
    store: Arc<dyn Store>,
    owner: Option<OwnerToken>,
}

impl Doubt {
    fn resolved(mut self) {
        self.owner = None;
    }
}

impl Drop for Doubt {
    fn drop(&mut self) {
        let (Some(owner), Ok(runtime)) = (self.owner.take(), Handle::try_current()) else {
            return;
        };
        let store = Arc::clone(&self.store);
        runtime.spawn(async move {
            let _ = timeout(CALL, store.abandon(&owner)).await;
        });
    }
}
