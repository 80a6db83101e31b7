//! What workers hear from a store.

use super::{Looker, News};

/// What a watcher has seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wake {
    /// Work may have come.
    Work,
    /// The job of a scheduled task falls due.
    Due {
        /// When, in microseconds.
        at: i64,
        /// The task.
        task: String,
    },
    /// A worker has looked, and found something.
    Looked(Looked),
    /// Announcements arrive from now on; whatever was announced before may have been missed.
    Live,
    /// Announcements do not arrive for the time being.
    Deaf,
}

/// What a worker says of its look. Instants are microseconds by the store's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Looked {
    /// Who.
    pub looker: Looker,
    /// When it looked.
    pub at: i64,
    /// When something happens to the tasks of this worker next.
    pub next: Option<i64>,
}

/// Where all announcements are of one kind.
impl From<Wake> for News {
    fn from(wake: Wake) -> Self {
        match wake {
            Wake::Work | Wake::Due { .. } | Wake::Looked(_) => Self::Any,
            Wake::Live => Self::Live,
            Wake::Deaf => Self::Deaf,
        }
    }
}
