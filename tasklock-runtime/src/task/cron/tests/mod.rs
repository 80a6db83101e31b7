//! What [`super`] argues, tried.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tasklock_grammar::{Cron, parse_cron};

use super::slots_after;

mod cost;
mod edges;
mod made_up;
mod oracle;
mod properties;
mod random;
mod reference;
mod table;

fn cron(text: &str) -> Cron {
    parse_cron(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn zone(name: &str) -> TimeZone {
    TimeZone::get(name).unwrap_or_else(|error| panic!("{error}"))
}

/// Seconds of an instant such as `2026-03-08T07:00Z`.
fn seconds(instant: &str) -> i64 {
    let parsed: Result<Timestamp, _> = instant.parse();
    parsed
        .unwrap_or_else(|error| panic!("{instant}: {error}"))
        .as_second()
}

const MICROS: i64 = 1_000_000;

/// The slots after one second and up to another.
fn slots(cron: &Cron, zone: &TimeZone, (after, last): (i64, i64)) -> Vec<i64> {
    let mut previous = after * MICROS;
    slots_after(cron, zone, previous)
        .inspect(|slot| {
            assert!(*slot > previous, "{cron}: {slot} follows {previous}");
            assert_eq!(slot % MICROS, 0, "{cron}: {slot} is no whole second");
            previous = *slot;
        })
        .map(|slot| slot / MICROS)
        .take_while(|slot| *slot <= last)
        .collect()
}
