//! Cron expressions as text: when a task runs, by the clock on a wall.
//!
//! [`parse_cron`] documents the grammar. What it reads is a [`Cron`]: sets of seconds, minutes, hours
//! and months, and a rule for the days of each month. It knows neither a time zone nor an instant;
//! the runtime turns it into those.

mod calendar;
mod days;
mod expression;
mod field;
mod item;
mod last;
mod mistake;
mod never;
mod nickname;
mod part;
mod read;
mod words;

pub use expression::Cron;
pub use mistake::CronError;
pub use read::parse_cron;
