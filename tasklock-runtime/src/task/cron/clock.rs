//! The clock on the wall of a zone: what it shows, and when it first shows it.

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};
use tasklock_grammar::Cron;

use super::reading;

const SECOND: SignedDuration = SignedDuration::from_secs(1);

/// The first instant after another at which the clock shows a time of the cron.
pub(super) fn next_shown(cron: &Cron, zone: &TimeZone, after: Timestamp) -> Option<Timestamp> {
    let mut from = after.checked_add(SECOND).ok()?;
    let mut piece = Piece::at(zone, from);
    let mut since = piece.shows(from);
    let mut due = reading::first(cron, since);
    loop {
        // `due` is the first one from the reading `since` on. In the first piece that is `from`'s own.
        if let Some(found) = piece.when(due).filter(|at| piece.has(*at)) {
            return Some(found);
        }
        // What was set back may show an earlier one, but for so long only. From then on the clock needs
        // no watching until `due` is near.
        let end = piece.end?;
        from = if end < latest(since) {
            end
        } else {
            end.max(earliest(due))
        };
        piece = Piece::at(zone, from);
        let shown = piece.shows(from);
        if shown < since || due.is_some_and(|due| due < shown) {
            since = shown;
            due = reading::first(cron, since);
        }
    }
}

/// The first instant after another at which the clock reaches, or leaps over, a time of the cron that
/// it has never reached before.
pub(super) fn next_reached(cron: &Cron, zone: &TimeZone, after: Timestamp) -> Option<Timestamp> {
    let top = top(zone, after).checked_add(SECOND).ok()?;
    let due = Some(reading::first(cron, top)?);
    let mut from = after.checked_add(SECOND).ok()?;
    loop {
        let piece = Piece::at(zone, from);
        // A piece that begins beyond it begins with the end of the gap that it was in.
        let reached = piece.when(due).map(|at| at.max(from));
        if let Some(found) = reached.filter(|at| piece.has(*at)) {
            return Some(found);
        }
        from = piece.end?.max(earliest(due));
    }
}

/// The latest that the clock has shown up to an instant, which is not what it shows now if it was set
/// back a short while ago.
fn top(zone: &TimeZone, at: Timestamp) -> DateTime {
    let mut top = zone.to_datetime(at);
    let Ok(next) = at.checked_add(SECOND) else {
        return top;
    };
    for transition in zone.preceding(next) {
        let Ok(last) = transition.timestamp().checked_sub(SECOND) else {
            break;
        };
        // No clock on earth showed more than `top` then or before.
        if Offset::MAX.to_datetime(last) <= top {
            break;
        }
        top = top.max(zone.to_datetime(last));
    }
    top
}

/// Some instants through which one offset holds: from one of them up to the next transition.
struct Piece {
    offset: Offset,
    /// The first instant that is not in it.
    end: Option<Timestamp>,
}

impl Piece {
    fn at(zone: &TimeZone, from: Timestamp) -> Self {
        let next = zone.following(from).next();
        // jiff 1.0 gives the last transition again and again for a file of a zone that has no rule
        // for the time after it.
        let end = next.map(|transition| transition.timestamp());
        Self {
            offset: zone.to_offset(from),
            end: end.filter(|end| *end > from),
        }
    }

    fn has(&self, instant: Timestamp) -> bool {
        self.end.is_none_or(|end| instant < end)
    }

    fn shows(&self, instant: Timestamp) -> DateTime {
        self.offset.to_datetime(instant)
    }

    /// When a clock of this offset shows a reading, if jiff can tell.
    fn when(&self, reading: Option<DateTime>) -> Option<Timestamp> {
        self.offset.to_timestamp(reading?).ok()
    }
}

/// Before this, no clock on earth shows a reading or more.
fn earliest(reading: Option<DateTime>) -> Timestamp {
    reading.map_or(Timestamp::MAX, |reading| instant(reading, Offset::MAX))
}

/// From this on, no clock on earth shows less than a reading.
fn latest(reading: DateTime) -> Timestamp {
    instant(reading, Offset::MIN)
}

/// Cut off at the ends of what jiff can tell.
fn instant(reading: DateTime, offset: Offset) -> Timestamp {
    let end = if reading.year() < 0 {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    };
    offset.to_timestamp(reading).unwrap_or(end)
}
