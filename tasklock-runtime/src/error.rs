//! What can go wrong outside a handler.

use std::fmt;

/// Why the runtime could not start, or a client's call failed. Each message names what is wrong, the
/// value (credentials redacted), and what to do.
///
/// `Debug` shows the message too: a `main` that returns this error prints it by `Debug`.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An option of the builder, a `TASKLOCK_*` variable or a database URL cannot be used.
    #[error("{option}: {problem}")]
    #[non_exhaustive]
    Option {
        /// The option or variable, with its value where that helps.
        option: String,
        /// What is wrong with it, and what to write.
        problem: String,
    },
    /// No task is linked into this program.
    #[error(
        "no task is linked into this program: nothing would ever run. Annotate a function with \
         #[locked_task]; where the tasks are in a library that nothing else names, the linker drops \
         it: write `use my_jobs as _;` or `tasklock_runtime::link!(my_jobs);` in main.rs"
    )]
    NoTasks,
    /// Tasks that cannot be run as they are defined and configured: every mistake, with its place.
    #[error("the tasks cannot be run as they are defined and configured:\n{}", .0.join("\n"))]
    Tasks(Vec<String>),
    /// The store cannot be reached, refuses a statement, or is not what it should be.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No task of this name is known to the store.
    #[error(
        "the store knows no task `{0}` that can be triggered: check the name, that a worker with this task has \
         started once, and that it uses the same database, table prefix and schema; a task with a payload is \
         not triggered but enqueued"
    )]
    UnknownTask(String),
    /// A job cannot be enqueued as it is. Nothing was written.
    #[error("a job of the task `{task}` is not enqueued: {problem}")]
    #[non_exhaustive]
    Job {
        /// Its task.
        task: String,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// The store has no job of this id: there never was one, or it was deleted after its `keep`.
    #[error("the store has no job {0}: there never was one, or it was deleted after its `keep`")]
    UnknownJob(i64),
    /// Jobs were to be enqueued in a transaction of another database than the one that holds them. Nothing was
    /// written; on Postgres the transaction may be aborted by the look at its tables.
    #[error(
        "not enqueued: jobs can be enqueued in transactions of their own database only, and this one {0}"
    )]
    OtherDatabase(String),
    /// The operating system refused something that the runtime needs.
    #[error("{what}: {source}")]
    #[non_exhaustive]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
    pub(crate) fn option(option: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Option {
            option: option.into(),
            problem: problem.into(),
        }
    }
}

/// What kind of trouble a store is in, and so what can be done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// A lock or serialization conflict: the same call may succeed at once.
    Busy,
    /// The store cannot be reached, or did not answer in time. What the call did is not known.
    Unavailable,
    /// The store takes no writes: read-only, a standby, a missing grant, or a full disk.
    NotWritable,
    /// The tables are missing, or those of an incompatible version.
    Schema,
    /// Anything else: most likely a mistake in this library.
    Other,
}

/// A store's failure: which store, which call, what it said, what to do.
///
/// `Debug` shows the message too, as with [`Error`].
#[derive(Clone, thiserror::Error)]
#[error("{store}: cannot {call}: {message}")]
pub struct StoreError {
    /// The store, its address redacted.
    pub(crate) store: String,
    /// What was tried.
    pub(crate) call: &'static str,
    pub(crate) kind: StoreErrorKind,
    /// What the store said, and what to do about it.
    pub(crate) message: String,
}

impl fmt::Debug for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl StoreError {
    /// The store did not answer within `limit`: what the call did is not known.
    pub(crate) fn no_answer(store: &str, call: &'static str, limit: std::time::Duration) -> Self {
        Self {
            store: store.to_owned(),
            call,
            kind: StoreErrorKind::Unavailable,
            message: format!("no answer within {limit:?}"),
        }
    }

    /// What kind of trouble it is.
    #[must_use]
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }
}
