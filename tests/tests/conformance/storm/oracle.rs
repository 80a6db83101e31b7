//! What must hold, judged by one process's monotonic clock.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The store's clock may be slewed against ours, and count in milliseconds.
const CLOCKS: Duration = Duration::from_millis(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Claimed,
    Renewed,
}

/// A success that the store has confirmed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Event {
    pub(super) kind: Kind,
    pub(super) job: i64,
    pub(super) fence: i64,
    pub(super) sent: Instant,
    pub(super) replied: Instant,
}

/// One acquisition: its claims (more than one would be wrong), and its renewals.
#[derive(Default)]
struct Lease<'a> {
    claims: Vec<&'a Event>,
    renewals: Vec<&'a Event>,
}

/// Everything in the log that must not happen.
pub(super) fn violations(log: &[Event], ttl: Duration, fences_count: bool) -> Vec<String> {
    let mut jobs: BTreeMap<i64, BTreeMap<i64, Lease<'_>>> = BTreeMap::new();
    for event in log {
        let lease = jobs
            .entry(event.job)
            .or_default()
            .entry(event.fence)
            .or_default();
        match event.kind {
            Kind::Claimed => lease.claims.push(event),
            Kind::Renewed => lease.renewals.push(event),
        }
    }
    let mut found = Vec::new();
    for (job, leases) in &jobs {
        let mut before: Option<&Lease<'_>> = None;
        for (expected, (fence, lease)) in (1..).zip(leases) {
            let mut report = |what: String| found.push(format!("job {job}, fence {fence}: {what}"));
            let [claim] = lease.claims[..] else {
                report(format!("claimed {} times", lease.claims.len()));
                continue;
            };
            if fences_count && *fence != expected {
                report(format!("not {expected}, the one after the last"));
            }
            if let Some(before) = before {
                judge(before, claim, ttl, report);
            }
            before = Some(lease);
        }
    }
    found
}

/// The lease of one fence, and the claim of the next.
fn judge(before: &Lease<'_>, claim: &Event, ttl: Duration, mut report: impl FnMut(String)) {
    let trusted = before
        .claims
        .iter()
        .chain(&before.renewals)
        .map(|event| event.sent + ttl)
        .max();
    if let Some(until) = trusted
        && claim.replied + CLOCKS < until
    {
        let early = until - claim.replied;
        report(format!(
            "taken {early:?} before the former holder's lease could expire"
        ));
    }
    for renewal in &before.renewals {
        if renewal.sent > claim.replied {
            let late = renewal.sent - claim.replied;
            report(format!(
                "the former holder was confirmed {late:?} after the takeover"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: Duration = Duration::from_millis(100);

    /// (kind, fence, sent, replied), in milliseconds.
    fn judged(log: &[(Kind, i64, u64, u64)]) -> Vec<String> {
        let began = Instant::now();
        let at = |millis| began + Duration::from_millis(millis);
        let event = |&(kind, fence, sent, replied)| Event {
            kind,
            job: 7,
            fence,
            sent: at(sent),
            replied: at(replied),
        };
        violations(&log.iter().map(event).collect::<Vec<_>>(), TTL, true)
    }

    #[test]
    fn it_catches_what_must_not_happen_and_nothing_else() {
        use Kind::{Claimed, Renewed};
        let first = (Claimed, 1, 0, 5);
        let sound = [
            first,
            (Renewed, 1, 90, 95),
            (Claimed, 2, 150, 191),
            (Renewed, 2, 200, 210),
        ];
        assert!(judged(&sound).is_empty());
        for (wrong, log) in [
            ("before the former", vec![first, (Claimed, 2, 50, 60)]),
            (
                "before the former",
                vec![first, (Renewed, 1, 99, 103), (Claimed, 2, 99, 104)],
            ),
            (
                "after the takeover",
                vec![first, (Claimed, 2, 100, 110), (Renewed, 1, 111, 112)],
            ),
            ("claimed 2 times", vec![first, (Claimed, 1, 200, 210)]),
            ("claimed 0 times", vec![first, (Renewed, 2, 50, 60)]),
            ("not 2", vec![first, (Claimed, 3, 200, 210)]),
        ] {
            let found = judged(&log);
            assert!(
                found.iter().any(|found| found.contains(wrong)),
                "{wrong}: {found:?}"
            );
        }
    }
}
