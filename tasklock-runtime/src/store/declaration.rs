//! What a start says of a task.

use crate::task::Next;

/// A task that a worker has, and the one standing job that it owns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// The task.
    pub task: String,
    /// Its schedule as text, to see whether it has changed.
    pub schedule: String,
    /// When the job falls due if the store has none yet.
    pub if_new: Next,
    /// When it falls due if it waits under another schedule, or runs under one.
    pub if_changed: Next,
    /// The named lease that each run takes as well.
    pub resource: Option<String>,
    /// Former names of the task.
    pub aliases: Vec<String>,
    /// If the task runs once for each deployed version: which one this is.
    pub version: Option<String>,
    /// Whether it has a standing job. One that needs a payload has only names.
    pub standing: bool,
    /// Whether a job that is there is left as it is.
    pub restores: bool,
    /// When the instants were computed; if one of them comes before it is written, it is to be computed anew.
    pub asked_at: i64,
}

impl Declaration {
    /// Of a task that is due then, now or under whatever schedule it was before.
    #[must_use]
    pub fn new(task: impl Into<String>, schedule: impl Into<String>, next: Next) -> Self {
        Self {
            task: task.into(),
            schedule: schedule.into(),
            if_new: next,
            if_changed: next,
            resource: None,
            aliases: Vec::new(),
            version: None,
            standing: true,
            restores: false,
            asked_at: i64::MAX,
        }
    }
}
