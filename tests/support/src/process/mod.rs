//! Worker processes: started, listened to, stopped, continued and killed.
//!
//! ```no_run
//! use std::process::Command;
//! use std::time::Duration;
//! use tasklock_test_support::process::Worker;
//!
//! let bound = Duration::from_secs(10);
//! // In an integration test: env!("CARGO_BIN_EXE_worker").
//! let worker = Worker::spawn(Command::new("target/debug/worker").env("MODE", "hold"));
//! let start = worker.wait_for(bound, |event| event.is("start"));
//! worker.stop(); // as a paused virtual machine would
//! // ... another worker takes over ...
//! worker.cont();
//! let lost = worker.wait_for(bound, |event| event.is("lost"));
//! assert_eq!(lost.u64("fence"), start.u64("fence"));
//! worker.kill();
//! ```

mod emit;
mod event;
mod guardian;
mod output;
mod signal;
mod worker;

pub use emit::{boottime, emit};
pub use event::Event;
pub use signal::{alive, continue_tree, pause_tree, signal, states};
pub use worker::Worker;

pub use rustix::process::Signal;
