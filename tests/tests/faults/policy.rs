//! What the tasks that run on demand are allowed: as it stands at them, in the worker program `fault_worker`.

/// A task's policy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Policy {
    pub(crate) task: &'static str,
    pub(crate) retries: i64,
    pub(crate) crashes: i64,
    /// At most so many runs at once.
    pub(crate) concurrency: Option<usize>,
    /// Whether a success of it always is its one effect's transaction.
    pub(crate) completes: bool,
    /// Whether its jobs need a name.
    pub(crate) shares: bool,
    /// Whether its ended rows stay for a day at least; else those of its successes may go at once.
    pub(crate) keeps: bool,
}

pub(crate) const POLICIES: [Policy; 6] = [
    Policy {
        completes: true,
        keeps: false,
        ..lenient("ships")
    },
    Policy {
        retries: 2,
        crashes: 3,
        ..lenient("tries")
    },
    Policy {
        concurrency: Some(2),
        ..lenient("pair")
    },
    Policy {
        keeps: false,
        ..lenient("gone")
    },
    Policy {
        shares: true,
        ..lenient("shares")
    },
    Policy {
        shares: true,
        ..lenient("pushes")
    },
];

const fn lenient(task: &'static str) -> Policy {
    Policy {
        task,
        retries: 1_000,
        crashes: 1_000,
        concurrency: None,
        completes: false,
        shares: false,
        keeps: true,
    }
}

/// That of a task that runs on demand.
pub(crate) fn of(task: &str) -> Option<&'static Policy> {
    POLICIES.iter().find(|policy| policy.task == task)
}
