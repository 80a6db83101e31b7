//! One look at the store for work: what is asked for, and what becomes of a claim whose answer is lost.
//!
//! A look is **quick** where the one before it, just now, has looked for expired leases, and said when the next one that it
//! saw expires: until then, and for no longer than the shortest ttl there can be, none needs to be looked for, and a job
//! that was just enqueued is claimed by one statement. A look that leaves tasks out, for they have their share of the slots, has
//! not seen their leases: after it the next one is thorough. When a quick look has found something, a thorough one
//! follows, while that runs. A look that others are to hear of is thorough: it says what comes next.

use std::time::Duration;

use tasklock_grammar::Timing;
use tokio::time::timeout;

use super::scheduler::Scheduler;
use crate::error::{StoreError, StoreErrorKind};
use crate::fault;
use crate::lease::{Moment, OwnerToken};
use crate::store::{Claim, ClaimBatch, ClaimRequest, Wanted};
use crate::task::Definition;

const CALL: Duration = Duration::from_secs(5);
/// How often at most parked jobs are looked at whose resource may be free; the store asks for it a second on.
const SWEEP: Duration = Duration::from_millis(900);
/// How long a thorough look holds: no lease lasts for less.
const THOROUGH: Duration = Timing::MIN_TTL;

impl Scheduler {
    /// Asks the store for work.
    pub(super) async fn look(&mut self, limit: usize) -> Result<Found, StoreError> {
        self.resolve_doubts().await?;
        let mut others_turn = std::mem::take(&mut self.others_turn);
        let asking = self.slots.shares.asking(limit);
        let mut tasks = self.asked_for(others_turn);
        if tasks.is_empty() && others_turn {
            // There are no others.
            others_turn = false;
            tasks = self.asked_for(others_turn);
        }
        if tasks.is_empty() {
            return Ok(Found::default());
        }
        let limit = if others_turn { limit } else { asking.limit };
        // What is left out is not looked at for expired leases, either.
        let is_complete = tasks.len() == self.registry.iter().count();
        let request = ClaimRequest {
            token: OwnerToken::fresh(),
            worker: self.worker.clone(),
            tasks,
            limit,
            // A suspect that had to wait for its slot might go back, and lose its mark.
            suspects: self.suspects.room().min(self.slots.is_free().into()),
            sweep: self.is_to_sweep(),
            quick: !self.tells && self.clock.now() < self.thorough_until,
            // Where something is left out, this says nothing of it.
            tell: Some(self.looker).filter(|_| self.tells && is_complete),
        };
        // It may be carried out without our hearing of it: then its rows carry this token.
        self.in_doubt.push(request.token.clone());
        let sent = self.clock.now();
        fault::at("claim to be sent");
        let answer = timeout(CALL, self.store.claim(&request)).await;
        fault::at("claim answered");
        let late = fault::has("the deadline is taken from the reply")
            || fault::has("now() in a long transaction");
        let sent = if late { self.clock.now() } else { sent };
        let error = match answer {
            Ok(Ok(ClaimBatch {
                now,
                claims,
                wait,
                parked,
            })) => {
                self.in_doubt.pop();
                self.bench.alarm.set_store_time(now);
                self.others_turn = !others_turn && asking.is_cut && claims.len() >= limit;
                let hurried = request.quick && !claims.is_empty();
                if !request.quick && is_complete {
                    self.thorough_until = sent + wait.unwrap_or(THOROUGH).min(THOROUGH);
                } else if !request.quick || hurried {
                    self.thorough_until = Moment::from_nanos(0);
                }
                // After the turn of the others, and after a hurry, the next look is for all.
                let again = others_turn || hurried;
                let wait = if again { Some(Duration::ZERO) } else { wait };
                let claims = claims.into_iter().map(|claim| (claim, sent)).collect();
                return Ok(Found {
                    now,
                    claims,
                    wait,
                    parked,
                });
            }
            Ok(Err(error)) => error,
            Err(_) => StoreError::no_answer(self.store.name(), "claim", CALL),
        };
        if error.kind() != StoreErrorKind::Unavailable {
            self.in_doubt.pop();
        }
        Err(error)
    }

    /// Whoever holds the resource of a parked job may have died: once a second somebody has to look.
    fn is_to_sweep(&mut self) -> bool {
        let now = self.clock.now();
        let due = self.swept.is_none_or(|last| now.since(last) >= SWEEP);
        if due {
            self.swept = Some(now);
        }
        due
    }

    fn asked_for(&self, others_turn: bool) -> Vec<Wanted> {
        let shares = &self.slots.shares;
        let mut tasks = self.tasks();
        tasks.retain(|wanted| shares.is_asked_for(&wanted.task, others_turn));
        tasks
    }

    pub(super) fn tasks(&self) -> Vec<Wanted> {
        let wanted = |definition: &Definition| Wanted {
            task: definition.name.to_owned(),
            queue: definition.queue_name().to_owned(),
            ttl: definition.timing().ttl,
            most: definition.limit(),
            suspect_from: definition.suspect_from(),
        };
        let tasks = self.registry.iter();
        tasks.map(|task| wanted(&task.definition)).collect()
    }

    /// Nobody works under these tokens: whatever was taken goes back, rather than wait for its expiry.
    pub(super) async fn resolve_doubts(&mut self) -> Result<(), StoreError> {
        while let Some(token) = self.in_doubt.last() {
            let given_back = match timeout(CALL, self.store.abandon(token)).await {
                Ok(answer) => answer?,
                Err(_) => break,
            };
            if given_back > 0 {
                tracing::info!(
                    given_back,
                    "gave back what a claim took whose reply was lost"
                );
            }
            self.in_doubt.pop();
        }
        Ok(())
    }
}

/// Claims with the moment they were sent.
#[derive(Default)]
pub(super) struct Found {
    pub(super) now: i64,
    pub(super) claims: Vec<(Claim, Moment)>,
    pub(super) wait: Option<Duration>,
    pub(super) parked: bool,
}
