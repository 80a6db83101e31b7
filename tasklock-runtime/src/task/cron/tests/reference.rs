//! The definition once more, as a clock that ticks: slow, and with no idea in it.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use tasklock_grammar::Cron;

const HOUR: i64 = 60 * 60;

/// By how much a zone's clock was set back at most, and a little more, in seconds: a day where the date
/// line was moved.
fn longest_overlap(zone: &TimeZone) -> i64 {
    let moved = [
        "America/Anchorage",
        "America/Juneau",
        "Pacific/Apia",
        "Pacific/Kwajalein",
    ];
    let is_moved = zone.iana_name().is_some_and(|name| moved.contains(&name));
    if is_moved { 25 * HOUR } else { 3 * HOUR }
}

/// The slots after one second and up to another, found by looking at the clock every `tick` seconds.
///
/// A tick of a minute sees all if the expression has no seconds and the zone is whole minutes away from UTC.
pub(super) fn slots(cron: &Cron, zone: &TimeZone, window: (i64, i64), tick: i64) -> Vec<i64> {
    let (after, last) = window;
    let first = after.div_euclid(tick) * tick - longest_overlap(zone);
    let one = SignedDuration::from_secs(tick);
    let mut found = Vec::new();
    let mut top: Option<DateTime> = None;
    for second in (first..=last).step_by(usize::try_from(tick).unwrap()) {
        let shown = zone.to_datetime(Timestamp::from_second(second).unwrap());
        let is_due = if cron.is_interval() {
            second > after && means(cron, shown)
        } else {
            // All that the clock shows now for the first time, or has leapt over.
            let mut is_due = false;
            let mut new = top.map_or(shown, |top| top + one);
            while new <= shown {
                is_due |= second > after && means(cron, new);
                new += one;
            }
            is_due
        };
        if is_due {
            found.push(second);
        }
        top = top.max(Some(shown));
    }
    found
}

pub(super) fn means(cron: &Cron, shown: DateTime) -> bool {
    let is_in = |bits: u64, place: i8| bits & (1 << place) != 0;
    is_in(cron.seconds(), shown.second())
        && is_in(cron.minutes(), shown.minute())
        && is_in(cron.hours().into(), shown.hour())
        && cron.matches_date(
            shown.year().into(),
            shown.month().unsigned_abs(),
            shown.day().unsigned_abs(),
        )
}

/// Else a slot could seem to be one that was reached before anybody looked.
#[test]
fn the_reference_looks_back_far_enough() {
    for name in super::random::ZONES {
        let zone = super::zone(name);
        let transitions: Vec<_> = zone.following(Timestamp::MIN).take(400).collect();
        for pair in transitions.windows(2) {
            let [before, after] =
                [&pair[0], &pair[1]].map(|transition| transition.offset().seconds());
            assert!(
                i64::from(before - after) <= longest_overlap(&zone),
                "{name}"
            );
        }
    }
}
