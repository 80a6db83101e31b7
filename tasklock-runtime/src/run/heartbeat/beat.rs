//! One beat: renew a batch, read back what was not confirmed.

use std::sync::Arc;
use std::time::Duration;

use super::Return;
use super::line::{Line, bounded};
use crate::error::StoreError;
use crate::fault;
use crate::lease::{Clock, LeaseKey, LeaseLost, LeaseStatus, Moment, Trust};
use crate::store::{MAX_BATCH, Renewal, answered};

/// A lease's part in a beat.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) renewal: Renewal,
    pub(super) resource: Option<Renewal>,
    pub(super) trust: Trust,
    pub(super) status: Arc<LeaseStatus>,
}

impl Member {
    fn renewals(&self) -> impl Iterator<Item = &Renewal> {
        std::iter::once(&self.renewal).chain(&self.resource)
    }

    fn size(&self) -> usize {
        self.renewals().count()
    }
}

/// What became of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Confirmed.
    Renewed,
    /// Still ours, but its row was locked.
    Busy,
    /// Not ours any more.
    Lost,
    /// The store gave no answer.
    Unknown,
}

/// A beat that has ended.
pub(super) struct Beaten {
    /// The connection, back for the next beat.
    pub(super) line: Line,
    pub(super) started: Moment,
    pub(super) verdicts: Vec<(LeaseKey, Verdict)>,
    pub(super) failure: Option<StoreError>,
    /// What was not given back.
    pub(super) returns: Vec<Return>,
}

/// Leases to give back, and how long a call for it may take.
pub(super) struct Returns {
    pub(super) leases: Vec<Return>,
    pub(super) call: Duration,
}

/// In chunks of at most [`MAX_BATCH`] renewals each; those of one member stay together.
fn chunks(members: &[Member]) -> impl Iterator<Item = &[Member]> {
    let mut rest = members;
    std::iter::from_fn(move || {
        let mut size = 0;
        let fits = |member: &&Member| {
            size += member.size();
            size <= MAX_BATCH
        };
        let (chunk, left) = rest.split_at(rest.iter().take_while(fits).count());
        rest = left;
        (!chunk.is_empty()).then_some(chunk)
    })
}

/// Renews all members, in chunks of [`MAX_BATCH`]. `call` bounds each call to the store.
pub(super) async fn beat(
    mut line: Line,
    members: Vec<Member>,
    returns: Returns,
    clock: Arc<dyn Clock>,
    call: Duration,
) -> Beaten {
    let started = clock.now();
    let mut verdicts = Vec::with_capacity(members.len());
    let mut failure = None;
    for chunk in chunks(&members) {
        if failure.is_none() {
            match renew(&mut line, chunk, &*clock, call).await {
                Ok(chunk) => {
                    verdicts.extend(chunk);
                    continue;
                }
                Err(error) => {
                    line.reset();
                    failure = Some(error);
                }
            }
        }
        verdicts.extend(chunk.iter().map(|member| {
            member.status.suspect(LeaseLost::StoreUnreachable);
            (member.renewal.key.clone(), Verdict::Unknown)
        }));
    }
    let Returns { mut leases, call } = returns;
    if failure.is_none()
        && let Err(error) = give_back(&mut line, &mut leases, call).await
    {
        line.reset();
        failure = Some(error);
    }
    Beaten {
        line,
        started,
        verdicts,
        failure,
        returns: leases,
    }
}

/// Gives leases back; those that were, or that are not ours any more, are told and leave the list.
async fn give_back(
    line: &mut Line,
    returns: &mut Vec<Return>,
    call: Duration,
) -> Result<(), StoreError> {
    while !returns.is_empty() {
        line.connect(call, call).await?;
        let chunk = returns.len().min(MAX_BATCH);
        let keys: Vec<LeaseKey> = returns[..chunk]
            .iter()
            .map(|lease| lease.key.clone())
            .collect();
        let released = bounded(call, "release", line.renewer.release(&keys)).await?;
        let released = answered(keys.iter(), &released);
        // What is locked just then was skipped, and is tried again.
        let is_back = |key: &LeaseKey| released.contains(&(key.job, key.fence));
        let left = keys.iter().filter(|key| !is_back(key));
        let left: Vec<i64> = left.map(|key| key.job).collect();
        let rows = if left.is_empty() {
            Vec::new()
        } else {
            bounded(call, "read leases back", line.renewer.inspect(&left)).await?
        };
        let is_ours =
            |key: &LeaseKey| !is_back(key) && rows.iter().any(|row| row.is_held_under(key));
        let before = returns.len();
        // First those who wait for this call, then those who wait for the names.
        for lease in returns.extract_if(..chunk, |lease| !is_ours(&lease.key)) {
            if let Some(done) = lease.done {
                let _ = done.send(());
            }
        }
        bounded(call, "tell who waits for leases", line.renewer.tell(&keys)).await?;
        if returns.len() == before {
            break;
        }
    }
    Ok(())
}

async fn renew(
    line: &mut Line,
    chunk: &[Member],
    clock: &dyn Clock,
    call: Duration,
) -> Result<Vec<(LeaseKey, Verdict)>, StoreError> {
    let left = chunk.iter().map(|member| member.status.check());
    let left = left.map(Result::unwrap_or_default).min();
    line.connect(call, left.unwrap_or_default()).await?;
    let renewer = line.renewer.as_mut();
    let renewals: Vec<Renewal> = chunk.iter().flat_map(Member::renewals).cloned().collect();
    let t0 = clock.now();
    fault::at("renewal to be sent");
    let jobs = bounded(call, "renew leases", renewer.renew(&renewals)).await?;
    fault::at("renewal confirmed");
    let t0 = if fault::has("the deadline is taken from the reply") {
        clock.now()
    } else {
        t0
    };
    let confirmed = answered(renewals.iter().map(|renewal| &renewal.key), &jobs);
    let is_confirmed = |key: &LeaseKey| confirmed.contains(&(key.job, key.fence));
    // Before anything else waits: each confirmation is worth a deadline now.
    let mut missing = Vec::new();
    for member in chunk {
        let unconfirmed = member.renewals().map(|renewal| &renewal.key);
        let unconfirmed = unconfirmed.filter(|key| !is_confirmed(key));
        let before = missing.len();
        missing.extend(unconfirmed.map(|key| key.job));
        if missing.len() == before {
            member.status.extend(member.trust.deadline(t0));
        }
    }
    let rows = if missing.is_empty() {
        Vec::new()
    } else {
        bounded(call, "read leases back", renewer.inspect(&missing)).await?
    };
    let verdict = |member: &Member| {
        let unconfirmed = member.renewals().map(|renewal| &renewal.key);
        let mut verdict = Verdict::Renewed;
        for key in unconfirmed.filter(|key| !is_confirmed(key)) {
            match rows.iter().find(|row| row.is_held_under(key)) {
                Some(row) if !row.to_cancel => verdict = Verdict::Busy,
                Some(_) => {
                    member.status.lose(LeaseLost::Cancelled);
                    return Verdict::Lost;
                }
                None => {
                    member.status.lose(LeaseLost::TakenOver);
                    return Verdict::Lost;
                }
            }
        }
        verdict
    };
    let key = |member: &Member| member.renewal.key.clone();
    Ok(chunk
        .iter()
        .map(|member| (key(member), verdict(member)))
        .collect())
}
