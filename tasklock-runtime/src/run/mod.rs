//! What happens while a worker runs: find the tasks, claim what is due, keep the leases alive, run
//! the handlers, write the ends, stop.
//!
//! ```text
//! registry ─▶ scheduler ──claim──▶ lease ──▶ execution ──▶ completion ─▶ store
//!                │                   │            ▲
//!                └── alarm           └─▶ heartbeat ┘ (lost)
//! ```
//!
//! Whose lease it is and whether it is held is decided in [`crate::lease`]; here are the tasks and
//! threads that act on it. Four rules keep them apart:
//!
//! - The **scheduler** claims for free slots, and ahead where runs are short, and hands a claim to the heartbeat before
//!   anything else may wait.
//! - The **heartbeat** is a thread of its own, with its own runtime and connection: no handler and no
//!   pool of the application can hold it up. It ends last.
//! - An **execution** owns its handler's future. Only when this future is dropped may the lease end.
//! - **Completion** writes ends in batches, each guarded by (owner, fence), and only after the
//!   heartbeat has let go of the lease.

mod alarm;
mod around;
#[cfg(any(test, feature = "testing"))]
mod by_hand;
mod completion;
mod events;
mod execution;
mod facts;
mod gathered;
mod grant;
mod heart;
mod heartbeat;
mod lanes;
mod look;
mod named;
mod pace;
mod prune;
mod registry;
mod report;
mod resource;
mod scheduler;
mod settling;
mod shares;
mod signals;
mod slots;
mod standing;
mod suspects;
mod turns;
mod unwind;
mod worker;

pub(crate) use around::Layers;
pub use around::{Ended, Handler};
#[cfg(any(test, feature = "testing"))]
pub(crate) use by_hand::ByHand;
pub(crate) use events::Publisher;
pub use events::{Event, EventKind, Events, Missed};
pub(crate) use heart::Heart;
pub use named::{LeaseGuard, LeaseRequest, LockError};
pub(crate) use registry::{Names, Registry, Rescheduled, Selection};
pub(crate) use worker::{Settings, Worker};
