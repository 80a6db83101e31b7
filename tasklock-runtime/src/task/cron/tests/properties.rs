//! For random expressions, zones and instants: the slots are those of the definition.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::Config;
use tasklock_grammar::Cron;

use super::super::next_slot;
use super::random::{between, crons, crons_of_seconds, near, second, zones};
use super::{MICROS, reference, slots};

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

fn cases(cases: u32) -> Config {
    Config {
        cases,
        failure_persistence: None,
        max_global_rejects: cases.saturating_mul(4),
        ..Config::default()
    }
}

/// Before this, zones were minutes and seconds away from UTC.
fn is_whole_minutes(zone: &TimeZone, from: i64, to: i64) -> bool {
    [from - 2 * DAY, from, to].into_iter().all(|second| {
        let offset = zone.to_offset(Timestamp::from_second(second).unwrap());
        offset.seconds() % 60 == 0
    })
}

fn next(cron: &Cron, zone: &TimeZone, after: i64) -> i64 {
    let slot = next_slot(cron, zone, after * MICROS).expect("far from the end of time");
    assert_eq!(slot % MICROS, 0, "a slot is a whole second");
    slot / MICROS
}

/// The dates of the clock from one instant to another, without those at the ends.
fn dates_between(zone: &TimeZone, from: i64, to: i64) -> impl Iterator<Item = Date> {
    let date = |second| {
        zone.to_datetime(Timestamp::from_second(second).unwrap())
            .date()
    };
    let first = date(from + DAY).tomorrow().unwrap();
    let last = date(to - DAY);
    first
        .series(jiff::Span::new().days(1))
        .take_while(move |date| *date < last)
}

proptest! {
    #![proptest_config(cases(10_000))]

    /// Strictly later, nothing left out before it, a slot indeed, and the same one from wherever
    /// between somebody asks.
    #[test]
    fn the_next_slot_of_ten_thousand_crons(
        cron in crons(),
        (name, zone) in zones(),
        at in any::<i64>(),
        near in near(),
        index in any::<Index>(),
        micros in 0..MICROS,
    ) {
        let after = second(&zone, at, near);
        let slot = next(&cron, &zone, after);
        prop_assert!(slot > after, "{cron} in {name} after {after}");
        let asked = between(index, after, slot - 1) * MICROS + micros;
        prop_assert_eq!(next_slot(&cron, &zone, asked), Some(slot * MICROS));

        let soon = after + 2 * HOUR;
        let is_seen = |from, to| is_whole_minutes(&zone, from, to);
        if is_seen(after, soon) {
            let seen = reference::slots(&cron, &zone, (after, soon), MINUTE);
            let expected = Some(slot).filter(|slot| *slot <= soon);
            prop_assert_eq!(seen.first().copied(), expected, "{} in {} after {}", cron, name, after);
        }
        if slot > soon && is_seen(slot - HOUR, slot) {
            let seen = reference::slots(&cron, &zone, (slot - HOUR, slot), MINUTE);
            prop_assert_eq!(seen.first().copied(), Some(slot), "{} in {} after {}", cron, name, after);
        }
        // A date of an interval job may be lost in a gap, one of any other job never.
        if slot > after + 4 * DAY && !cron.is_interval() {
            let is_meant = |date: &Date| {
                let (month, day) = (date.month().unsigned_abs(), date.day().unsigned_abs());
                cron.matches_date(date.year().into(), month, day)
            };
            prop_assert_eq!(dates_between(&zone, after, slot).find(is_meant), None, "{} in {}", cron, name);
        }
    }
}

proptest! {
    #![proptest_config(cases(300))]

    /// All slots of two days around a transition, minute by minute.
    #[test]
    fn the_slots_of_two_days(
        cron in crons(),
        (name, zone) in zones(),
        at in any::<i64>(),
        near in near(),
    ) {
        let after = second(&zone, at, near) - DAY;
        let last = after + 2 * DAY;
        prop_assume!(is_whole_minutes(&zone, after, last));
        let computed = slots(&cron, &zone, (after, last));
        let expected = reference::slots(&cron, &zone, (after, last), MINUTE);
        prop_assert_eq!(computed, expected, "{} in {} after {}", cron, name, after);
    }
}

proptest! {
    #![proptest_config(cases(40))]

    /// All slots of an hour, second by second, with the zones' first transitions, which are not whole
    /// minutes.
    #[test]
    fn the_slots_of_an_hour(
        cron in crons_of_seconds(),
        (name, zone) in zones(),
        old in any::<bool>(),
        at in any::<i64>(),
        before in 0..HOUR,
    ) {
        let at = if old { at.rem_euclid(40 * 365 * DAY) } else { at };
        let after = second(&zone, at, Some(-before));
        let last = after + HOUR;
        let computed = slots(&cron, &zone, (after, last));
        let expected = reference::slots(&cron, &zone, (after, last), 1);
        prop_assert_eq!(computed, expected, "{} in {} after {}", cron, name, after);
    }
}
