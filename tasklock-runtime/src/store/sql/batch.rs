//! A call that enqueues many jobs: in statements of bounded size, each job told of its own row.

use std::collections::HashMap;

use super::retry::{Diagnose, store_error};
use crate::error::{Error, StoreErrorKind};
use crate::store::{Enqueued, NewJob};

/// The most rows of one statement, and the most bytes of their payloads (one row may have more).
const MOST_ROWS: usize = 1_000;
const MOST_BYTES: usize = 4 << 20;

/// A row that was written or found: id, task, unique key.
pub(in crate::store) type Written = (i64, String, Option<String>);

/// The jobs of one call, and what is known of each.
pub(in crate::store) struct Batch<'a> {
    jobs: &'a [NewJob],
    enqueued: Vec<Option<Enqueued>>,
}

impl<'a> Batch<'a> {
    pub(in crate::store) fn of(jobs: &'a [NewJob]) -> Self {
        Self {
            jobs,
            enqueued: vec![None; jobs.len()],
        }
    }

    /// The jobs without a key, by their places in the call.
    pub(in crate::store) fn plain_chunks(&self) -> Vec<Vec<usize>> {
        let plain = |nth: &usize| self.jobs[*nth].unique_key.is_none();
        self.chunks((0..self.jobs.len()).filter(plain))
    }

    /// The jobs with a key, in an order that all callers share: then none waits for another in a circle.
    pub(in crate::store) fn keyed_chunks(&self) -> Vec<Vec<usize>> {
        let keyed = |nth: &usize| self.jobs[*nth].unique_key.is_some();
        let mut keyed: Vec<usize> = (0..self.jobs.len()).filter(keyed).collect();
        keyed.sort_by_key(|nth| (&self.jobs[*nth].task, self.jobs[*nth].unique_key.as_deref()));
        self.chunks(keyed)
    }

    fn chunks(&self, places: impl IntoIterator<Item = usize>) -> Vec<Vec<usize>> {
        let mut chunks: Vec<Vec<usize>> = Vec::new();
        let mut bytes = 0;
        for nth in places {
            let size = self.jobs[nth].payload.as_ref().map_or(0, String::len);
            match chunks.last_mut() {
                Some(chunk) if chunk.len() < MOST_ROWS && bytes + size <= MOST_BYTES => {
                    chunk.push(nth);
                    bytes += size;
                }
                _ => {
                    chunks.push(vec![nth]);
                    bytes = size;
                }
            }
        }
        chunks
    }

    pub(in crate::store) fn jobs_of(&self, chunk: &[usize]) -> Vec<&'a NewJob> {
        chunk.iter().map(|nth| &self.jobs[*nth]).collect()
    }

    /// Every row was written, in the order of the chunk: its ids ascend.
    pub(in crate::store) fn note_plain(&mut self, chunk: &[usize], mut ids: Vec<(i64,)>) {
        ids.sort_unstable();
        for (nth, (id,)) in chunk.iter().zip(ids) {
            self.enqueued[*nth] = Some(Enqueued::New(id));
        }
    }

    /// Some rows were written, the keys of the others are taken; answers those of which neither is known.
    pub(in crate::store) fn note_keyed(
        &mut self,
        chunk: &[usize],
        written: Vec<Written>,
        taken: Vec<Written>,
    ) -> Vec<usize> {
        let by_key = |rows: Vec<Written>| -> HashMap<(String, Option<String>), i64> {
            rows.into_iter()
                .map(|(id, task, key)| ((task, key), id))
                .collect()
        };
        let (mut written, taken) = (by_key(written), by_key(taken));
        for nth in chunk {
            let job = &self.jobs[*nth];
            let key = (job.task.clone(), job.unique_key.clone());
            self.enqueued[*nth] = match (written.remove(&key), taken.get(&key)) {
                (Some(id), _) => Some(Enqueued::New(id)),
                (None, taken) => taken.map(|id| Enqueued::Existing(*id)),
            };
        }
        let unknown = |nth: &&usize| self.enqueued[**nth].is_none();
        chunk.iter().filter(unknown).copied().collect()
    }

    pub(in crate::store) fn done(self) -> Result<Vec<Enqueued>, sqlx::Error> {
        let restless = || {
            sqlx::Error::Protocol("a unique key changed hands each time it was looked at".into())
        };
        let all: Option<Vec<Enqueued>> = self.enqueued.into_iter().collect();
        all.ok_or_else(restless)
    }
}

/// The transaction is not one of the jobs' database.
pub(in crate::store) fn elsewhere(why: &str) -> Error {
    Error::OtherDatabase(why.to_owned())
}

/// An error of a statement in the application's transaction, which has to be rolled back.
pub(in crate::store) fn uninserted(store: &str, diagnose: Diagnose, error: sqlx::Error) -> Error {
    let error = store_error(store, "enqueue in a transaction", diagnose, error);
    if error.kind == StoreErrorKind::Schema {
        return elsewhere("belongs to a database without tasklock tables");
    }
    error.into()
}
