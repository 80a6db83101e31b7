//! Leases that end with another one.
//!
//! A run of a job that needs a name holds two leases, and believes in both or in neither. Whoever takes the job over,
//! its lease having expired, takes the name in the same transaction, although the name's own row may say a later
//! expiry: the belief has ended in both by then. Nobody else may have it, and nobody in any other way.

use std::collections::HashMap;

use super::audit::{Entry, Op};

/// A name, who takes it over, and in which transaction.
type Way<'a> = (&'a str, &'a str, i64);
/// Who held a run before, and the place of its takeover in the log.
type Before<'a> = (&'a str, i64);

/// The takeovers of runs that held a name.
#[derive(Debug, Default)]
pub(crate) struct Inherited<'a>(HashMap<Way<'a>, Vec<Before<'a>>>);

impl<'a> Inherited<'a> {
    pub(crate) fn of(log: &'a [Entry]) -> Self {
        let mut inherited = Self::default();
        let mut holders: HashMap<i64, &Entry> = HashMap::new();
        for entry in log {
            match entry.op {
                Op::Acquire => {
                    let former = holders.insert(entry.job, entry);
                    let name = entry.row.resource.as_deref();
                    // The former run had the same name: a resource is given to a job once.
                    if let (Some(former), Some(name)) = (former, name)
                        && former.row.resource.as_deref() == Some(name)
                    {
                        let way = (name, &*entry.owner, entry.tx);
                        let before = (&*former.owner, entry.seq);
                        inherited.0.entry(way).or_default().push(before);
                    }
                }
                Op::Finish | Op::Release => drop(holders.remove(&entry.job)),
                _ => {}
            }
        }
        inherited
    }

    /// Whether this acquisition of a name goes with the takeover of the run for whose sake this holder had it.
    pub(crate) fn has(&self, entry: &Entry, holder: &Entry) -> bool {
        let Some(name) = entry.row.key.as_deref().filter(|_| entry.row.is_name()) else {
            return false;
        };
        let takeovers = self.0.get(&(name, &*entry.owner, entry.tx));
        takeovers.is_some_and(|takeovers| {
            takeovers
                .iter()
                .any(|(owner, seq)| *owner == holder.owner && *seq < entry.seq)
        })
    }
}
