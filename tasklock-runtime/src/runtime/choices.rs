//! The builder's options about the tasks that are linked: which of them run, and when.

use super::RuntimeBuilder;
use crate::run::{Names, Rescheduled};
use crate::task::TaskSpec;

impl RuntimeBuilder {
    /// Runs only these of the linked tasks. `TASKLOCK_ONLY`, names separated by commas.
    pub fn only<N: Into<String>>(mut self, tasks: impl IntoIterator<Item = N>) -> Self {
        self.selection.only = Some(Names {
            names: tasks.into_iter().map(Into::into).collect(),
            from: "only",
        });
        self
    }

    /// Runs only the tasks of these queues (the attribute's `queue`, `default` where a task names none);
    /// by default those of all queues. With [`only`](Self::only) too, a task must be in both.
    /// `TASKLOCK_QUEUES`, names separated by commas.
    pub fn queues<N: Into<String>>(mut self, queues: impl IntoIterator<Item = N>) -> Self {
        self.selection.queues = Some(Names {
            names: queues.into_iter().map(Into::into).collect(),
            from: "queues",
        });
        self
    }

    /// Runs a task by another schedule than its attribute's: `every 5m`, `after 30s`, `cron 0 3 * * *`,
    /// `cron 30 2 * * MON-FRI in Europe/Berlin`, or `off`, with which it runs only when it is triggered. `TASKLOCK_SCHEDULE_<TASK>`,
    /// the task's name in capitals with a `_` for each character that is no letter or digit:
    /// `TASKLOCK_SCHEDULE_BILLING_REFRESH="every 5m"`. Only for a task that has a schedule; the rest of its attribute
    /// (`missed`, `jitter`, …) goes on to count.
    ///
    /// The schedule stands in the store, and all workers go by it, of whichever version: the one that started last has
    /// said it. Set it for all replicas.
    pub fn schedule(mut self, task: impl Into<String>, schedule: impl Into<String>) -> Self {
        self.selection.schedules.push(Rescheduled {
            task: task.into(),
            schedule: schedule.into(),
            from: "schedule".to_owned(),
        });
        self
    }

    /// What tells this version of the program from others: a task with `on_start` runs once for each. By default a hash of the
    /// program's file. `TASKLOCK_VERSION`.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Refuses to start unless this task is linked: `.require::<refresh_rates>()`. Naming the handle
    /// also links the library that it comes from, as [`link!`](crate::link) does. It looks at what is
    /// linked, not at what [`only`](Self::only) leaves.
    pub fn require<T: TaskSpec>(mut self) -> Self {
        self.selection.required.push(T::NAME);
        self
    }
}
