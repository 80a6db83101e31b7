//! Writing one batch of ends, and finding out what became of each.

use std::collections::HashMap;

use tokio::time::timeout;

use super::{CALL, End, Ending, Written};
use crate::error::{StoreError, StoreErrorKind};
use crate::lease::LeaseKey;
use crate::store::{Store, answered};

/// The longest text, in characters, of an error that the store refused as it was.
const MAX_PLAIN: usize = 1024;

/// What became of a batch: what is known, and why the rest is not. An end that is in neither was skipped,
/// and its lease is still ours.
#[derive(Default)]
pub(super) struct Answer {
    pub(super) verdicts: HashMap<LeaseKey, Written>,
    pub(super) failure: Option<StoreError>,
}

impl Answer {
    /// Whether it is the ends that the store does not take, rather than any call.
    pub(super) fn is_refused(&self) -> bool {
        let kind = self.failure.as_ref().map(StoreError::kind);
        kind == Some(StoreErrorKind::Other)
    }
}

/// Writes each end alone that is not known to be written. One that the store refuses is written with the
/// plainest form of its error's text: a database that is not in UTF-8 cannot hold every character.
pub(super) async fn write_singly(store: &dyn Store, batch: &mut [Ending], answer: &mut Answer) {
    let mut failure = None;
    for ending in batch {
        if answer.verdicts.contains_key(ending.end.key()) {
            continue;
        }
        let mut alone = write_batch(store, std::slice::from_ref(ending)).await;
        if alone.is_refused()
            && let End::Finish(finish) = &mut ending.end
            && let Some(text) = &mut finish.error
        {
            *text = text.escape_default().take(MAX_PLAIN).collect();
            alone = write_batch(store, std::slice::from_ref(ending)).await;
        }
        let is_refused = alone.is_refused();
        answer.verdicts.extend(alone.verdicts);
        if let Some(error) = alone.failure {
            failure = Some(error);
            if !is_refused {
                // The store itself is in trouble by now.
                break;
            }
        }
    }
    answer.failure = failure.filter(|_| answer.verdicts.is_empty());
}

/// Writes what can be written. What one call has answered stays known where the next one fails.
pub(super) async fn write_batch(store: &dyn Store, batch: &[Ending]) -> Answer {
    let mut answer = Answer::default();
    let written = timeout(CALL, write(store, batch, &mut answer.verdicts)).await;
    answer.failure = match written {
        Ok(written) => written.err(),
        Err(_) => {
            let call = "write the ends of runs";
            Some(StoreError::no_answer(store.name(), call, CALL))
        }
    };
    answer
}

async fn write(
    store: &dyn Store,
    batch: &[Ending],
    verdicts: &mut HashMap<LeaseKey, Written>,
) -> Result<(), StoreError> {
    let mut finishes = Vec::new();
    let mut releases = Vec::new();
    for ending in batch {
        match &ending.end {
            End::Finish(finish) => finishes.push(finish.clone()),
            End::Release(key, resource) => {
                releases.push(key.clone());
                releases.extend(resource.clone());
            }
        }
    }
    if !finishes.is_empty() {
        let jobs = store.finish(&finishes).await?;
        let resources = finishes
            .iter()
            .filter_map(|finish| finish.resource.as_ref());
        let keys = finishes.iter().map(|finish| &finish.key);
        note_written(keys.chain(resources), &jobs, verdicts);
    }
    if !releases.is_empty() {
        let jobs = store.release(&releases).await?;
        note_written(releases.iter(), &jobs, verdicts);
    }
    let missing: Vec<&LeaseKey> = batch
        .iter()
        .map(|ending| ending.end.key())
        .filter(|key| !verdicts.contains_key(key))
        .collect();
    if !missing.is_empty() {
        let jobs: Vec<i64> = missing.iter().map(|key| key.job).collect();
        let rows = store.inspect(&jobs).await?;
        for key in missing {
            if !rows.iter().any(|row| row.is_held_under(key)) {
                verdicts.insert(key.clone(), Written::NotOurs);
            }
        }
    }
    Ok(())
}

fn note_written<'a>(
    keys: impl Iterator<Item = &'a LeaseKey> + Clone,
    jobs: &[i64],
    verdicts: &mut HashMap<LeaseKey, Written>,
) {
    let answered = answered(keys.clone(), jobs);
    let written = keys.filter(|key| answered.contains(&(key.job, key.fence)));
    verdicts.extend(written.map(|key| (key.clone(), Written::Yes)));
}
