//! From a row's fields to what the store tells of it.

use std::collections::HashMap;

use redis::{RedisResult, Value};

use super::answer::{list, number, several, text};
use crate::lease::{LeaseKey, OwnerToken};
use crate::store::columns::{FIRST, LAST, follows, progress};
use crate::store::declaring::Standing;
use crate::store::{Claim, Job, JobRow, JobState, between, timestamp};

/// A row as it stands in Redis: texts by their names.
#[derive(Debug)]
pub(super) struct Fields {
    pub(super) id: i64,
    fields: HashMap<String, String>,
}

impl Fields {
    pub(super) fn of(id: i64, flat: Value) -> RedisResult<Self> {
        let values = list(flat)?;
        let pairs = values.chunks_exact(2);
        let fields = pairs.map(|pair| Ok((text(&pair[0])?, text(&pair[1])?)));
        let fields = fields.collect::<RedisResult<_>>()?;
        Ok(Self { id, fields })
    }

    /// Rows with their ids.
    pub(super) fn all(rows: Value) -> RedisResult<Vec<Self>> {
        let row = |row| {
            let [id, flat] = several(row)?;
            Self::of(number(&id)?, flat)
        };
        list(rows)?.into_iter().map(row).collect()
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(String::as_str)
    }

    fn owned(&self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    /// A field that is no number is none.
    fn number(&self, name: &str) -> Option<i64> {
        self.text(name)?.parse().ok()
    }

    fn instant(&self, name: &str) -> Option<i64> {
        Some(self.number(name)?.clamp(FIRST, LAST))
    }

    fn count<T: TryFrom<i64> + Default>(&self, name: &str) -> T {
        let number = self.number(name).unwrap_or(0).max(0);
        T::try_from(number).unwrap_or_default()
    }

    pub(super) fn task(&self) -> &str {
        self.text("task").unwrap_or_default()
    }

    fn state(&self) -> JobState {
        let state = self.text("state").and_then(JobState::of);
        state.unwrap_or(JobState::Ready)
    }

    fn is_standing(&self) -> bool {
        self.text("unique_key") == Some("")
    }

    fn to_cancel(&self) -> bool {
        self.text("cancelled_at").is_some() && !self.is_standing()
    }

    fn waits_for(&self) -> Option<i64> {
        self.instant("due_at")
            .or_else(|| self.instant("parked_due"))
    }

    pub(super) fn job_row(&self, now: i64) -> JobRow {
        JobRow {
            job: self.id,
            task: self.task().to_owned(),
            running: self.state() == JobState::Running,
            owner: self.text("owner").map(OwnerToken::from_stored),
            fence: self.number("fence").unwrap_or(0),
            left: self.instant("lock_until").map(|until| between(now, until)),
            due_at: self.instant("due_at"),
            slot_at: self.instant("slot_at"),
            attempt: self.count("attempt"),
            crashes: self.count("crashes"),
            to_cancel: self.to_cancel(),
            last_outcome: self.owned("last_outcome"),
            last_error: self.owned("last_error"),
        }
    }

    pub(super) fn claim(&self, token: &OwnerToken, takeover: bool, now: i64) -> Claim {
        Claim {
            key: LeaseKey {
                job: self.id,
                fence: self.number("fence").unwrap_or(0),
                owner: token.clone(),
            },
            task: self.task().to_owned(),
            due_at: self.instant("due_at").unwrap_or(now),
            slot_at: self.instant("slot_at"),
            schedule: self.owned("schedule"),
            begun_at: self.instant("begun_at"),
            follows: follows(self.number("next_at"), self.number("next_in")),
            attempt: self.count("attempt"),
            crashes: self.count("crashes"),
            refusals: self.count("refusals"),
            takeover,
            standing: self.is_standing(),
            to_cancel: self.to_cancel(),
            payload: self.text("payload").map(Into::into),
            resource: None,
        }
    }

    pub(super) fn resource(&self) -> Option<String> {
        self.owned("resource")
    }

    pub(super) fn job(&self) -> Job {
        let at = |name: &str| self.instant(name).map(timestamp);
        let progress = progress(self.number("progress_done"), self.number("progress_total"));
        Job {
            id: self.id,
            task: self.task().to_owned(),
            state: self.state(),
            payload: self.owned("payload"),
            priority: i16::try_from(self.number("priority").unwrap_or(0)).unwrap_or(0),
            unique_key: self.owned("unique_key").filter(|key| !key.is_empty()),
            resource: self.resource(),
            is_standing: self.is_standing(),
            due_at: self.waits_for().map(timestamp),
            slot_at: at("slot_at"),
            schedule: self.owned("schedule"),
            missed: self.count("missed"),
            skipped: self.count("skipped"),
            attempt: self.count("attempt"),
            crashes: self.count("crashes"),
            refusals: self.count("refusals"),
            fence: self.number("fence").unwrap_or(0),
            worker: self.owned("worker"),
            lock_until: at("lock_until"),
            progress,
            claimed_at: at("claimed_at"),
            finished_at: at("finished_at"),
            created_at: at("created_at"),
            cancelled_at: at("cancelled_at"),
            last_outcome: self.owned("last_outcome"),
            last_error: self.owned("last_error"),
        }
    }

    pub(super) fn standing(&self) -> Standing {
        Standing {
            running: self.state() == JobState::Running,
            schedule: self.owned("schedule"),
            resource: self.resource(),
            due_at: self.waits_for(),
            slot_at: self.instant("slot_at"),
            parked: self.text("parked_rank").is_some(),
            begun: self.text("begun_at").is_some(),
            again: self.text("again").is_some(),
            moved: false,
            attempt: self.count("attempt"),
            hold_until: self.instant("hold_until"),
            follows: follows(self.number("next_at"), self.number("next_in")),
            versions: self.owned("versions"),
        }
    }
}
