//! Batches as JSON, for databases that read it and have no arrays.

use serde::Serialize;

use super::{Columns, progress_columns};
use crate::lease::LeaseKey;
use crate::store::{Finish, Renewal, Wanted};
use crate::task::micros;

/// An array with an item for each.
pub(in crate::store) fn batch<'a, T, R: Serialize>(
    items: &'a [T],
    row: impl Fn(&'a T) -> R,
) -> String {
    let rows: Vec<R> = items.iter().map(row).collect();
    serde_json::to_string(&rows).expect("rows of texts and numbers are JSON")
}

/// [[task, queue, ttl in µs, limit, suspect from], …]
pub(in crate::store) fn wanted(tasks: &[Wanted]) -> String {
    batch(tasks, |wanted| {
        (
            &wanted.task,
            &wanted.queue,
            micros(wanted.ttl),
            wanted.most,
            wanted.suspect_from,
        )
    })
}

/// [[id, fence, owner], …]
pub(in crate::store) fn keys(keys: &[LeaseKey]) -> String {
    batch(keys, |key| (key.job, key.fence, key.owner.as_str()))
}

/// [[id, fence, owner, ttl in µs, done, of how much in all], …]
pub(in crate::store) fn renewals(renewals: &[Renewal]) -> String {
    batch(renewals, |renewal| {
        let key = &renewal.key;
        let (done, total) = progress_columns(renewal.progress);
        let ttl = micros(renewal.ttl);
        (key.job, key.fence, key.owner.as_str(), ttl, done, total)
    })
}

/// [[id, fence, owner, next at, next in, outcome, error, state, what counts, keep, hold, next slot, missed slots, skipped ones,
/// what the claim was told that follows (two)], …]
pub(in crate::store) fn ends(ends: &[&Finish]) -> String {
    batch(ends, |end| {
        let key = &end.key;
        let columns = Columns::of(end);
        (
            key.job,
            key.fence,
            key.owner.as_str(),
            columns.next_at,
            columns.next_in,
            end.outcome,
            &end.error,
            columns.state,
            columns.counts,
            columns.keep,
            columns.hold,
            columns.slot_at,
            columns.missed,
            columns.skipped,
            columns.told_at,
            columns.told_in,
        )
    })
}
