//! What a task is: its definition, its schedule, the parameters of its handler, how a run of it ended, and
//! how it registers itself.
//! This module is pure: it never touches a database.

mod blocking;
mod cron;
mod decode;
mod definition;
mod extract;
mod outcome;
mod panics;
mod registration;
mod renew;
mod schedule;
mod spec;
mod text;
mod then;
mod verdict;
mod zone;

pub use blocking::blocking;
pub(crate) use blocking::{Threads, ThreadsEnd};
pub(crate) use decode::decode;
pub use definition::{Definition, OnLost};
pub(crate) use extract::States;
pub use extract::{ExtractError, FromRun, IsLease, Payload, Requirements, RunParts, State};
pub use outcome::{BoxError, IntoOutcome, Outcome, TaskResult};
pub(crate) use panics::{caught, install_hook as install_panic_hook};
pub use registration::{Location, Registration, RunFuture};
pub use renew::Renew;
pub(crate) use schedule::{Claimed, Fate, Plan, Schedule, micros};
pub use schedule::{Missed, Next, Passed};
pub use spec::{JobSpec, TaskSpec};
pub use then::{Counts, Then};
pub(crate) use then::{Facts, Standing, succeeded, then};
pub use verdict::{Discard, RetryAfter, Snooze};
