//! What `#[locked_task]` checks at compile time and the tasklock runtime checks again at startup.
//!
//! Both read the same durations, crons, names and lease timings, and both must refuse the same mistakes in
//! the same words. This crate is that one grammar. It has no dependencies, because the macro pays
//! for each of them in every user's build.
//!
//! - [`parse_duration`] and [`display_duration`]: `"1h30m"` and back
//! - [`parse_backoff`]: the bounds of a growing delay, `"1s..10m"`
//! - [`parse_cron`]: when a task runs by the calendar, `"0 9 * * MON-FRI"`
//! - [`check_zone_name`]: where it does so, as far as can be told without a database
//! - [`check_name`]: what a task or a named lease may be called
//! - [`nearest`]: what was meant by a word that is none
//! - [`Timing`]: how `ttl`, `heartbeat` and `margin` must fit together, and a `stall` with them
//!
//! This is an implementation detail of tasklock: applications need not depend on it.

mod backoff;
mod cron;
mod duration;
mod mistake;
mod name;
mod near;
mod stall;
mod timing;
mod zone;

pub use crate::backoff::parse_backoff;
pub use crate::cron::{Cron, CronError, parse_cron};
pub use crate::duration::{
    MAX_DURATION, MIN_BACKOFF, MIN_CATCH_UP, MIN_EVERY, display_duration, parse_duration,
};
pub use crate::mistake::{DurationError, duration_of_words};
pub use crate::name::{MAX_NAME_BYTES, NameError, check_name};
pub use crate::near::nearest;
pub use crate::stall::StallError;
pub use crate::timing::{Timing, TimingError, TimingOption};
pub use crate::zone::{check_zone_name, unknown_zone};
