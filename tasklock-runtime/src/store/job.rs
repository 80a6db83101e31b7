//! Jobs as applications enqueue them, and as operators see and steer them.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;

use crate::lease::Progress;

/// A job to enqueue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewJob {
    /// Its task.
    pub task: String,
    /// JSON; `None` is JSON's null.
    pub payload: Option<String>,
    /// When it falls due.
    pub due: Due,
    /// Ahead of others by so many seconds of their due time.
    pub priority: i16,
    /// At most one job of the task with this key waits or runs.
    pub unique_key: Option<String>,
    /// The named lease that each run takes as well.
    pub resource: Option<String>,
}

/// When a new job falls due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// At this instant, in microseconds since the Unix epoch by the store's clock.
    At(i64),
    /// So long after the store has written it.
    In(Duration),
}

/// What became of a job that was enqueued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Enqueued {
    /// There is a new job, with this id.
    New(i64),
    /// A job with the same unique key waits or runs: this one. Nothing was written.
    Existing(i64),
}

impl Enqueued {
    /// The job's id.
    #[must_use]
    pub const fn id(self) -> i64 {
        match self {
            Self::New(id) | Self::Existing(id) => id,
        }
    }

    /// Whether a new job was written.
    #[must_use]
    pub const fn is_new(self) -> bool {
        matches!(self, Self::New(_))
    }
}

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum JobState {
    /// It waits: for its due time, for a retry, or for a worker.
    Ready,
    /// A worker has it.
    Running,
    /// It has succeeded.
    Done,
    /// It has failed for good: no attempt is left, or it was discarded, or it is poison.
    Dead,
    /// Somebody has cancelled it.
    Cancelled,
}

impl JobState {
    /// All of them.
    pub(crate) const ALL: [Self; 5] = [
        Self::Ready,
        Self::Running,
        Self::Done,
        Self::Dead,
        Self::Cancelled,
    ];

    /// As it stands in the store: `ready`, `running`, `done`, `dead` or `cancelled`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Running => "running",
            Self::Done => "done",
            Self::Dead => "dead",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether nothing more happens to the job by itself.
    #[must_use]
    pub const fn is_ended(self) -> bool {
        matches!(self, Self::Done | Self::Dead | Self::Cancelled)
    }

    /// The state with this name.
    #[cfg(database)]
    pub(crate) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

impl fmt::Display for JobState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A job as it stands in the store. Instants are by the store's clock.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Job {
    /// Its id.
    pub id: i64,
    /// Its task.
    pub task: String,
    /// Where it stands.
    pub state: JobState,
    /// What it was enqueued with, as JSON.
    pub payload: Option<String>,
    /// Ahead of others by so many seconds of their due time.
    pub priority: i16,
    /// Its key, while which is taken no other job with it can be enqueued.
    pub unique_key: Option<String>,
    /// The name of the second lease that its runs take: jobs with the same one, and whoever holds a lease on that
    /// name, exclude each other.
    pub resource: Option<String>,
    /// Whether it is the one job that its task owns, which is triggered and never ends.
    pub is_standing: bool,
    /// When it falls, or fell, due; `None` waits to be triggered.
    pub due_at: Option<Timestamp>,
    /// The slot of its schedule that a standing job stands for. Its run falls due later by the task's jitter, and later for
    /// another attempt; where it was triggered, it is due before it.
    pub slot_at: Option<Timestamp>,
    /// Its schedule, of a standing job: `every 5m`, `cron 0 3 * * * in Europe/Berlin`, `on demand`, …
    pub schedule: Option<String>,
    /// So many slots of its schedule, since its row was written, have passed while another slot's run was due or under way
    /// that stood for them.
    pub missed: u64,
    /// So many were skipped: no run stood for them.
    pub skipped: u64,
    /// Its starts so far; those of the present slot, for a standing job.
    pub attempt: u32,
    /// How many of them have ended with an expired lease: a crash, a pause, a lost connection.
    pub crashes: u32,
    /// How often a worker could not read the payload.
    pub refusals: u32,
    /// The fence of its last run.
    pub fence: i64,
    /// The worker that runs it.
    pub worker: Option<String>,
    /// When the lease on it expires, renewals included.
    pub lock_until: Option<Timestamp>,
    /// How far the run is that is under way, as its handler had said by the last renewal
    /// ([`LeaseContext::progress`](crate::LeaseContext::progress)). Of a run whose worker has died it stays until
    /// another one takes the job over; with the run's end it is gone.
    pub progress: Option<Progress>,
    /// When its last run started.
    pub claimed_at: Option<Timestamp>,
    /// When its last run ended.
    pub finished_at: Option<Timestamp>,
    /// When it was enqueued.
    pub created_at: Option<Timestamp>,
    /// When somebody asked for it to be cancelled.
    pub cancelled_at: Option<Timestamp>,
    /// How its last run ended, as a word: `succeeded`, `failed`, `panicked`, `timed_out`, `discarded`, `snoozed`, `undecodable`,
    /// `poisoned`, `skipped` or `cancelled`.
    pub last_outcome: Option<String>,
    /// What went wrong in it, with the causes; at most 4096 bytes.
    pub last_error: Option<String>,
}

/// Without the payload, which may hold what no log should.
impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("id", &self.id)
            .field("task", &self.task)
            .field("state", &self.state)
            .field("due_at", &self.due_at)
            .field("attempt", &self.attempt)
            .field("crashes", &self.crashes)
            .field("last_outcome", &self.last_outcome)
            .finish_non_exhaustive()
    }
}

/// Which jobs to list, the newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobQuery {
    /// Of this task alone.
    pub task: Option<String>,
    /// In these states.
    pub states: Vec<JobState>,
    /// Older than the job with this id.
    pub before: i64,
    /// At most so many.
    pub limit: usize,
}

/// What became of the wish to cancel a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cancelled {
    /// It waited, and will not run.
    Now,
    /// It runs: its lease is not renewed any more, and its handler is told by the next heartbeat. It is cancelled when the
    /// handler has ended, unless that succeeds first.
    Soon,
    /// It had ended before.
    AlreadyEnded,
    /// It is the standing job of its task, which cannot be cancelled: pause the task.
    Standing,
}

/// What became of the wish to run a job again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Retried {
    /// It is due now, its attempts starting anew if it had ended.
    Queued,
    /// It was due already.
    AlreadyQueued,
    /// It runs.
    AlreadyRunning,
    /// Another job with the same unique key waits or runs: this one. Nothing was changed.
    KeyTaken(i64),
}

/// What can be paused.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Pausable {
    /// A task.
    Task(String),
    /// All tasks of a queue.
    Queue(String),
}

impl Pausable {
    pub(crate) fn kind_and_name(&self) -> (&'static str, &str) {
        match self {
            Self::Task(name) => ("task", name),
            Self::Queue(name) => ("queue", name),
        }
    }

    #[cfg(database)]
    pub(crate) fn of(kind: &str, name: String) -> Option<Self> {
        match kind {
            "task" => Some(Self::Task(name)),
            "queue" => Some(Self::Queue(name)),
            _ => None,
        }
    }
}

/// An instant that a store has told, in microseconds since the Unix epoch.
pub(crate) fn timestamp(micros: i64) -> Timestamp {
    Timestamp::from_microsecond(micros).unwrap_or(Timestamp::MAX)
}
