//! The ends of time, and the argument of what a slot is.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::super::{next_slot, slots_after};
use super::{MICROS, cron, reference, seconds, slots, zone};

#[test]
fn strictly_later_than_any_microsecond() {
    let cron = cron("0 0 * * *");
    let slot = seconds("2026-06-01T00:00Z") * MICROS;
    let next = |after| next_slot(&cron, &TimeZone::UTC, after);
    assert_eq!(next(slot - 1), Some(slot));
    assert_eq!(next(slot), Some(slot + 86_400 * MICROS));
    assert_eq!(next(slot + 1), Some(slot + 86_400 * MICROS));
    // Before 1970, where a division rounds the other way.
    assert_eq!(next(-1), Some(0));
    assert_eq!(next(-86_400 * MICROS - 1), Some(-86_400 * MICROS));
}

/// Never a panic and never a loop, in zones east and west, with rules without end and without rules.
#[test]
fn the_ends_of_time() {
    let ends = [
        Timestamp::MIN.as_microsecond(),
        Timestamp::MAX.as_microsecond(),
    ];
    for text in [
        "* * * * *",
        "* * * * * *",
        "0 0 * * *",
        "59 59 23 31 12 *",
        "0 0 29 2 *",
        "0 * 7 11 *",
    ] {
        let cron = cron(text);
        for name in [
            "UTC",
            "America/New_York",
            "Pacific/Kiritimati",
            "Asia/Kolkata",
            "Etc/GMT+12",
        ] {
            let zone = zone(name);
            for after in [i64::MIN, i64::MIN + 1, ends[0] - 1, ends[0], ends[0] + 1] {
                let slot = next_slot(&cron, &zone, after).expect("all time is ahead");
                assert!(slot > after.max(ends[0]), "{text} in {name} after {after}");
            }
            for after in [ends[1], ends[1] + 1, i64::MAX - 1, i64::MAX] {
                assert_eq!(next_slot(&cron, &zone, after), None, "{text} in {name}");
            }
            let two_years = 2 * 366 * 86_400 * MICROS;
            let last = slots_after(&cron, &zone, ends[1] - two_years)
                .take(3)
                .last();
            assert!(last.is_none_or(|last| last <= ends[1]), "{text} in {name}");
        }
    }
}

/// A slot that lies beyond the time that jiff can tell is none.
#[test]
fn the_last_slot_of_all() {
    let cron = cron("0 0 1 1 *");
    let after = seconds("9998-06-01T00:00Z");
    let slots = slots(&cron, &TimeZone::UTC, (after, i64::MAX));
    assert_eq!(slots, [seconds("9999-01-01T00:00Z")]);
}

/// Clocks that were set by minutes and seconds, twice in few days, or across the date line.
#[test]
fn the_odd_ones() {
    for (name, day, tick) in [
        // From the sun's time to the zone's, 3 minutes and 58 seconds back.
        ("America/New_York", "1883-11-18T17:00Z", 1),
        // 28 seconds forward.
        ("Europe/Amsterdam", "1937-07-01T00:00Z", 1),
        // 44 minutes and 30 seconds forward, in 1972.
        ("Africa/Monrovia", "1972-01-07T00:44:30Z", 1),
        // Midsummer time, two hours ahead.
        ("Europe/Berlin", "1945-05-24T00:00Z", 60),
        // Twice in a month, around Ramadan.
        ("Africa/Casablanca", "2026-02-15T02:00Z", 60),
        ("Africa/Cairo", "2010-08-11T00:00Z", 60),
        // A winter's two hours back and forth.
        ("Antarctica/Troll", "2026-03-29T01:00Z", 60),
        // Half past four in the morning and a quarter to five.
        ("America/St_Johns", "2006-10-29T02:31Z", 60),
        ("Pacific/Chatham", "2026-04-04T14:00Z", 60),
        // Summer time given up on the day when it was to end.
        ("Asia/Amman", "2022-10-27T22:00Z", 60),
        // The same day twice, and a day that there was not.
        ("Pacific/Kwajalein", "1969-09-30T13:00Z", 60),
        ("Pacific/Apia", "1892-07-04T12:00Z", 1),
        ("Pacific/Kiritimati", "1994-12-31T10:40Z", 60),
    ] {
        let zone = zone(name);
        let at = seconds(day);
        for text in [
            "0 0 * * *",
            "30 2,14 * * *",
            "0 */3 * * *",
            "7 0-23 * * *",
            "0,20,40 * * * *",
        ] {
            let cron = cron(text);
            // A second's ticks are many.
            let around = if tick == 1 { 3 } else { 30 } * 3600;
            let (after, last) = (at - around, at + around);
            let computed = slots(&cron, &zone, (after, last));
            let expected = reference::slots(&cron, &zone, (after, last), tick);
            assert_eq!(computed, expected, "{text} in {name}");
        }
    }
}

/// Whoever asks in the second pass of what the first has done gets the next day's.
#[test]
fn asked_between_the_passes() {
    let zone = zone("America/New_York");
    let cron = cron("30 1 * * *");
    let next = |after| next_slot(&cron, &zone, seconds(after) * MICROS);
    let first = Some(seconds("2026-11-01T01:30-04") * MICROS);
    let monday = Some(seconds("2026-11-02T01:30-05") * MICROS);
    assert_eq!(next("2026-11-01T01:29-04"), first);
    assert_eq!(next("2026-11-01T01:31-04"), monday);
    assert_eq!(next("2026-11-01T01:00-05"), monday);
    assert_eq!(next("2026-11-01T01:29-05"), monday);
    assert_eq!(next("2026-11-01T01:30-05"), monday);
}

/// The definition's own words where two transitions are close: what was reached or passed is done. No
/// zone has it, but a rule may: an hour forward, and back again an hour later.
#[test]
fn forward_and_back_within_an_hour() {
    let zone = TimeZone::posix("STD0DST-1,J100/2,J100/4").unwrap();
    let day = seconds("2026-04-10T00:00Z");
    let minutes = |text: &str| {
        let slots = slots(&cron(text), &zone, (day, day + 86_399));
        let minutes: Vec<_> = slots.iter().map(|slot| (slot - day) / 60).collect();
        minutes
    };
    // 02:00 is 03:00, and an hour later 04:00 is 03:00 again.
    assert_eq!(minutes("30 2 * * *"), [120]);
    assert_eq!(minutes("30 3 * * *"), [150]);
    assert_eq!(minutes("0,30 2-4 * * *"), [120, 150, 240, 270]);
    assert_eq!(minutes("30 */1 * * *")[1..5], [90, 150, 210, 270]);
}
