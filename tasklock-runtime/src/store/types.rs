//! What goes into a store and what comes out. Instants are microseconds since the Unix epoch by the
//! store's clock.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use crate::lease::{LeaseKey, OwnerToken, Progress};
use crate::task::{Next, Outcome, Passed, Then};

/// One call for work.
#[derive(Debug, Clone)]
pub struct ClaimRequest {
    /// Fresh for this call; all rows that it takes carry it.
    pub token: OwnerToken,
    /// The worker's name, for operators only.
    pub worker: String,
    /// The tasks that this worker has. Other rows are left alone.
    pub tasks: Vec<Wanted>,
    /// The most rows to take.
    pub limit: usize,
    /// The most of them that may be suspects, taken over.
    pub suspects: usize,
    /// Whether to look for parked jobs whose resource nobody holds.
    pub sweep: bool,
    /// In a hurry: expired leases were looked for just now, and need not be; and where something is taken, nobody waits
    /// to hear what comes next: the store may answer that it is at once, and is asked again.
    pub quick: bool,
    /// Where something is taken: tell other workers that this one has looked, and when something happens next. A store that
    /// announces nothing of the kind leaves it.
    pub tell: Option<Looker>,
}

/// Who looks for work, to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Looker {
    /// A number by which a worker knows what it has said itself.
    pub worker: u64,
    /// The same for all workers that have the same tasks.
    pub tasks: u64,
}

/// A task of which a claim may take rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The task.
    pub task: String,
    /// The queue that it is in, which may be paused.
    pub queue: String,
    /// How long a lease on a row of it lasts.
    pub ttl: Duration,
    /// The most runs of it at once, across all workers; `None`: any number.
    pub most: Option<u32>,
    /// With so many crashes an expired row is a suspect: it may be what makes them.
    pub suspect_from: u32,
}

impl Wanted {
    /// In the default queue, and as many as there are.
    #[must_use]
    pub fn new(task: impl Into<String>, ttl: Duration) -> Self {
        Self {
            task: task.into(),
            queue: "default".into(),
            ttl,
            most: None,
            suspect_from: u32::MAX,
        }
    }
}

/// What a claim brought.
#[derive(Debug, Clone, Default)]
pub struct ClaimBatch {
    /// The store's clock at the claim.
    pub now: i64,
    /// The rows taken.
    pub claims: Vec<Claim>,
    /// How long until the earliest row of these tasks falls due or a lease on one expires, as far
    /// as the store knows now; `None` if there is no such row. Zero if rows were left behind.
    pub wait: Option<Duration>,
    /// Whether jobs were parked: others may stand behind them.
    pub parked: bool,
}

/// A row that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The job, the new fence, the token.
    pub key: LeaseKey,
    /// The job's task.
    pub task: String,
    /// When it was due.
    pub due_at: i64,
    /// The slot that a standing job stands for.
    pub slot_at: Option<i64>,
    /// Its schedule, as a standing job's row says it.
    pub schedule: Option<String>,
    /// When a standing job's slot was first claimed: by this claim, or by one before.
    pub begun_at: Option<i64>,
    /// What follows the run, where the slot is one of a schedule that was changed since.
    pub follows: Option<Next>,
    /// Which attempt it is, from 1: every start counts.
    pub attempt: u32,
    /// How many of the attempts have ended with an expired lease.
    pub crashes: u32,
    /// How often a worker could not read the payload.
    pub refusals: u32,
    /// Whether it was taken from an owner whose lease had expired.
    pub takeover: bool,
    /// Whether it is the one standing job of its task.
    pub standing: bool,
    /// Whether somebody wants it cancelled.
    pub to_cancel: bool,
    /// JSON; `None` is JSON's null.
    pub payload: Option<Arc<str>>,
    /// The second lease that was taken with it.
    pub resource: Option<Resource>,
}

impl Claim {
    /// The instant that its run is for: its slot, whichever attempt at it this is; or when it was due, for a job without one
    /// and for an extra run, which was triggered before its slot.
    #[must_use]
    pub fn stands_for(&self) -> i64 {
        self.slot_at
            .filter(|slot| *slot <= self.due_at)
            .unwrap_or(self.due_at)
    }
}

/// The second lease of a run, on a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// The name.
    pub name: String,
    /// The lease.
    pub key: LeaseKey,
}

/// A renewal.
#[derive(Debug, Clone)]
pub struct Renewal {
    /// The lease.
    pub key: LeaseKey,
    /// Its length from the moment of the renewal.
    pub ttl: Duration,
    /// How far the run is; `None` leaves what the store knows.
    pub progress: Option<Progress>,
}

/// The end of a run.
#[derive(Debug, Clone)]
pub struct Finish {
    /// The lease that the run was made under.
    pub key: LeaseKey,
    /// What becomes of the job.
    pub then: Then,
    /// How the run ended, as a word.
    pub outcome: &'static str,
    /// What went wrong.
    pub error: Option<String>,
    /// How long after its start the run keeps the next one from starting.
    pub hold: Option<Duration>,
    /// Whether other workers may be waiting for its place.
    pub frees_place: bool,
    /// The second lease of the run, which is given back with it.
    pub resource: Option<LeaseKey>,
    /// The slots that have passed with it.
    pub passed: Passed,
}

impl Finish {
    /// That of a named lease: it is free.
    pub(crate) fn of_name(key: LeaseKey) -> Self {
        Self {
            key,
            then: Then::Slot(Next::Dormant),
            outcome: Outcome::Succeeded.as_str(),
            error: None,
            hold: None,
            frees_place: false,
            resource: None,
            passed: Passed::default(),
        }
    }
}

/// A job's row as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRow {
    /// The job.
    pub job: i64,
    /// Its task.
    pub task: String,
    /// Whether a run is under way, alive or not.
    pub running: bool,
    /// The owner, if there is one.
    pub owner: Option<OwnerToken>,
    /// The fence of the last acquisition.
    pub fence: i64,
    /// How long the lease still lasts by the store's clock, renewals included; zero if expired.
    pub left: Option<Duration>,
    /// When it falls due.
    pub due_at: Option<i64>,
    /// The slot that it stands for.
    pub slot_at: Option<i64>,
    /// Starts of the present slot.
    pub attempt: u32,
    /// Takeovers of the present slot.
    pub crashes: u32,
    /// Whether somebody wants the run to be cancelled.
    pub to_cancel: bool,
    /// How the last run ended.
    pub last_outcome: Option<String>,
    /// What went wrong in it.
    pub last_error: Option<String>,
}

impl JobRow {
    /// Whether this acquisition still owns the row, expired or not.
    #[must_use]
    pub fn is_held_under(&self, key: &LeaseKey) -> bool {
        self.job == key.job
            && self.running
            && self.fence == key.fence
            && self.owner.as_ref() == Some(&key.owner)
    }
}

/// What a trigger found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Triggered {
    /// The task will run now.
    Queued,
    /// It was due already and waits for a worker.
    AlreadyQueued,
    /// It is running: nothing was changed.
    AlreadyRunning,
}

/// The leases, as (job, fence), that an answer of jobs speaks of. Of two leases of one job in a batch,
/// one spent and one current, it can only mean the newer.
pub(crate) fn answered<'a>(
    keys: impl Iterator<Item = &'a LeaseKey>,
    jobs: &[i64],
) -> HashSet<(i64, i64)> {
    // The newest fence, and whether one owner alone has it: a store that lost its last commits may give a
    // fence out twice, and then the rows have to be read.
    let mut newest: HashMap<i64, (i64, bool)> = HashMap::new();
    for key in keys {
        let known = newest.entry(key.job).or_insert((i64::MIN, true));
        match key.fence.cmp(&known.0) {
            Ordering::Greater => *known = (key.fence, true),
            Ordering::Equal => known.1 = false,
            Ordering::Less => {}
        }
    }
    jobs.iter()
        .filter_map(|job| match newest.get(job)? {
            (fence, true) => Some((*job, *fence)),
            (_, false) => None,
        })
        .collect()
}

/// The time from one instant to a later one; zero if it is not.
pub(crate) fn between(from: i64, to: i64) -> Duration {
    span(to.saturating_sub(from))
}

/// A span of microseconds; zero if negative.
pub(crate) fn span(micros: i64) -> Duration {
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}
