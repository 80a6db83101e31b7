//! When a cron runs in a time zone: from text and zone to instants.
//!
//! # What a slot is
//!
//! A zone is a clock on a wall. Write `wall(t)` for what it shows at the instant `t`: `t` plus the offset
//! of that instant. An offset holds from one transition to the next, in which the clock runs on as time
//! does; at a transition it is set, forwards over a *gap* or backwards into an *overlap*. Instants,
//! offsets and transitions are whole seconds, and so are slots. Write `M` for the readings that the
//! expression means, each a date and a time.
//!
//! An **interval job** ([`Cron::is_interval`]: the minute or the hour starts with `*`) runs whenever the
//! wall shows a reading of `M`:
//!
//! ```text
//! S = { t : wall(t) ∈ M }
//! ```
//!
//! So it runs in both passes of an overlap and not for what a gap skips. Through either, `*/15 * * * *`
//! runs every 15 minutes, as long as the clock is set by a multiple of them. `0 * * * *` runs
//! every 60 minutes where the clock is set by an hour; on Lord Howe, where it is set by half of one, one pause
//! a year lasts 90 minutes (no hour begins in between), and in autumn 02:00 comes 90 minutes after
//! 01:00. `30 */2 * * *` does not run at a skipped 02:30: the pause from 00:30 to 04:30 is 3 hours of
//! elapsed time.
//!
//! **Every other job** is due once for each reading of `M`, as soon as the wall has reached it:
//!
//! ```text
//! reached(m) = min { t : wall(t) ≥ m }
//! S = { reached(m) : m ∈ M }
//! ```
//!
//! - Where the clock runs on, that is the instant at which it shows `m`.
//! - If `m` is in a gap, no instant shows it, and the first that shows more is the gap's end. All readings of
//!   one gap give this one instant, and so does the reading at its end: `S` is a set, one run.
//! - If `m` comes twice, its first pass is the earlier. The second gives nothing.
//! - Two transitions so close that one sets back what the other skipped need no rule of their own: what
//!   the wall has once reached or passed is done.
//!
//! A gap may be a whole day (Apia had no 30 December 2011): that day's runs are one run at its end.
//!
//! # Why [`next_slot`] is the least slot after an instant
//!
//! `reached` is monotone: a later reading is not reached before an earlier one. Write `top(a)` for the latest
//! reading that the wall has shown up to `a`. `reached(m) > a` says just that nothing up to `a` shows `m` or
//! more, which is `m > top(a)`. So the least slot after `a` is `reached(m)` for the least `m ∈ M` above
//! `top(a)`, and it is later than `a`. For an interval job it is the least `t > a` whose reading is in `M`,
//! by definition.
//!
//! Both are found piece by piece, a *piece* being the instants between two transitions, from the one that
//! `a + 1` is in ([`clock`]). Readings and instants run on alike in a piece, so a piece either has the
//! answer at a place that a subtraction gives, or has it not at all. Dates are found by months
//! ([`reading`]), so nothing here counts seconds or minutes.
//!
//! Nothing is remembered: the answer depends on the three arguments alone. Whoever asks again after
//! a restart, or on another replica, from any instant between two slots, gets the same slot; and whoever goes
//! from slot to slot meets each once, in order. Two replicas whose zone databases differ do not agree,
//! of course, where the databases do not.

mod clock;
mod reading;
#[cfg(test)]
mod tests;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tasklock_grammar::Cron;

const MICROS: i64 = 1_000_000;

/// The first slot of a cron that is strictly later than an instant.
///
/// Instants are microseconds since the Unix epoch. `None` says that there is no more slot in the time
/// that jiff can tell, which ends with the year 9999.
#[must_use]
pub(crate) fn next_slot(cron: &Cron, zone: &TimeZone, after: i64) -> Option<i64> {
    // A slot is a whole second: it is later than `after` if it is later than the second that `after` is in.
    let second = after.div_euclid(MICROS).max(Timestamp::MIN.as_second());
    let after = Timestamp::from_second(second).ok()?;
    let slot = if cron.is_interval() {
        clock::next_shown(cron, zone, after)
    } else {
        clock::next_reached(cron, zone, after)
    };
    slot.map(Timestamp::as_microsecond)
}

/// The slots that are strictly later than an instant, in order. Each takes one [`next_slot`].
#[cfg(test)]
fn slots_after(cron: &Cron, zone: &TimeZone, after: i64) -> impl Iterator<Item = i64> {
    let mut last = Some(after);
    std::iter::from_fn(move || {
        last = next_slot(cron, zone, last?);
        last
    })
}
