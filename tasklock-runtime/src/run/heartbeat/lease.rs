//! One lease in the heartbeat's hands.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::beat::{Member, Verdict};
use super::{Kept, Return};
use crate::error::StoreError;
use crate::lease::{LeaseKey, LeaseLost, Moment, RenewError};
use crate::store::Renewal;
use crate::task::{OnLost, Renew};

/// How long a handler may go on after its loss before a warning names it.
pub(super) const ABORT_PATIENCE: Duration = Duration::from_secs(1);
/// The longest pause before an unconfirmed renewal is tried again.
const RETRY: Duration = Duration::from_secs(1);

type Answer = oneshot::Sender<Result<(), RenewError>>;

/// A lease that is kept, and what is known of it.
pub(super) struct Lease {
    pub(super) kept: Kept,
    pub(super) next_beat: Moment,
    pub(super) beating: bool,
    /// Whether the last beat brought no answer.
    pub(super) failed: bool,
    pub(super) lost_at: Option<Moment>,
    pub(super) warned: bool,
    /// Waits for the next beat that starts.
    pub(super) asked: Vec<Answer>,
    /// Waits for the beat that is under way.
    pub(super) asking: Vec<Answer>,
    /// To be dropped when the beat under way is back.
    pub(super) forget: Option<oneshot::Sender<()>>,
    /// To be given back then.
    pub(super) give_back: Option<Return>,
}

impl Lease {
    pub(super) fn new(kept: Kept) -> Self {
        Self {
            next_beat: kept.next_beat(kept.granted),
            beating: false,
            failed: false,
            lost_at: None,
            warned: false,
            asked: Vec::new(),
            asking: Vec::new(),
            forget: None,
            give_back: None,
            kept,
        }
    }

    /// Joins a beat that starts now, if it is due or nearly so.
    pub(super) fn join(&mut self, now: Moment) -> Option<Member> {
        let kept = &self.kept;
        let due = self.next_beat <= now + kept.heartbeat / 2;
        if !due || self.forget.is_some() || self.give_back.is_some() || kept.status.check().is_err()
        {
            return None;
        }
        self.beating = true;
        self.next_beat = kept.next_beat(now);
        self.asking.append(&mut self.asked);
        let renewal = |key: &LeaseKey| Renewal {
            key: key.clone(),
            ttl: kept.ttl,
            progress: None,
        };
        Some(Member {
            renewal: Renewal {
                progress: kept.status.progress(),
                ..renewal(&kept.key)
            },
            resource: kept.resource.as_ref().map(renewal),
            trust: kept.trust,
            status: Arc::clone(&kept.status),
        })
    }

    /// Comes back from a beat that started then: what has used up its time is tried again at once.
    pub(super) fn settle(
        &mut self,
        verdict: Verdict,
        failure: Option<&StoreError>,
        started: Moment,
    ) {
        self.beating = false;
        self.failed = verdict == Verdict::Unknown;
        if verdict != Verdict::Renewed {
            // Spread, so that many workers do not come back to a troubled store together.
            let soon = (self.kept.ttl / 16).min(RETRY);
            let spread = soon.mul_f64(f64::from(getrandom::u32().unwrap_or(0) % 256) / 512.0);
            self.next_beat = self.next_beat.min(started + soon + spread);
        }
        for answer in self.asking.drain(..) {
            let _ = answer.send(self.kept.answer(verdict, failure));
        }
    }

    /// Sees to a lease that is lost; answers what is to be said of it, by whoever has not locked the table.
    pub(super) fn mourn(&mut self, now: Moment) -> Option<Mourned> {
        let lost = self.kept.status.check().err()?;
        for answer in self.asked.drain(..) {
            let _ = answer.send(Err(RenewError::Lost(lost)));
        }
        let exits = match self.lost_at {
            // Given up by the run itself, which ends or has ended: there is nobody to be told.
            _ if lost == LeaseLost::Released => {
                self.warned = true;
                return None;
            }
            None => {
                self.lost_at = Some(now);
                if self.kept.on_lost != OnLost::Exit {
                    return None;
                }
                true
            }
            Some(lost_at) if !self.warned && now.since(lost_at) >= ABORT_PATIENCE => {
                self.warned = true;
                if self.kept.on_lost != OnLost::Abort {
                    return None;
                }
                false
            }
            Some(_) => return None,
        };
        Some(Mourned {
            task: Arc::clone(&self.kept.task),
            job: self.kept.key.job,
            fence: self.kept.key.fence,
            lost,
            exits,
        })
    }
}

/// A loss that is told.
pub(super) struct Mourned {
    task: Arc<str>,
    job: i64,
    fence: i64,
    lost: LeaseLost,
    /// It ends the process.
    pub(super) exits: bool,
}

impl Mourned {
    pub(super) fn say(&self) {
        let Self {
            task,
            job,
            fence,
            lost,
            exits,
        } = self;
        if *exits {
            tracing::error!(
                task = &**task,
                job,
                fence,
                "{lost}; on_lost = \"exit\" ends the process"
            );
        } else {
            tracing::warn!(
                task = &**task,
                job,
                fence,
                reason = lost.as_str(),
                "the lease was lost, but the handler blocks its thread and cannot be dropped: \
                 it goes on beside a new owner until its next await point"
            );
        }
    }
}

impl Kept {
    /// When it is renewed again without being asked to.
    fn next_beat(&self, after: Moment) -> Moment {
        match self.renew {
            Renew::Manual => Moment::from_nanos(u64::MAX),
            Renew::Auto | Renew::Progress => after + self.heartbeat,
        }
    }

    fn answer(&self, verdict: Verdict, failure: Option<&StoreError>) -> Result<(), RenewError> {
        self.status.check().map_err(RenewError::Lost)?;
        match verdict {
            Verdict::Renewed => Ok(()),
            Verdict::Busy => Err(RenewError::Unconfirmed(
                "another transaction has locked the job's row".into(),
            )),
            Verdict::Lost | Verdict::Unknown => Err(RenewError::Unconfirmed(
                failure.map_or_else(|| "no answer".into(), ToString::to_string),
            )),
        }
    }
}
