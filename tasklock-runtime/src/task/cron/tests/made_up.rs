//! Clocks that no zone ever had: set forwards and back again at any time, by any quarter of an hour.

use jiff::tz::TimeZone;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::Config;

use super::super::next_slot;
use super::random::{between, crons};
use super::{MICROS, reference, seconds, slots};

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;

/// A zone in the format that zones are kept in (RFC 9636): the times of its transitions, each with the
/// offset from then on, in seconds. Before the first one it is UTC.
fn zone_of(transitions: &[(i64, i64)]) -> TimeZone {
    let small = |number: usize| u8::try_from(number).unwrap();
    let word = |number: i64| i32::try_from(number).unwrap().to_be_bytes();
    let (times, types) = (small(transitions.len()), small(transitions.len() + 1));
    let mut data = b"TZif".to_vec();
    data.extend([0; 16]);
    // How many UTC marks, standard marks, leap seconds, transitions, types, and bytes of names.
    for count in [0, 0, 0, times, types, 4] {
        data.extend([0, 0, 0, count]);
    }
    data.extend(transitions.iter().flat_map(|(time, _)| word(*time)));
    data.extend(1..=times);
    for offset in std::iter::once(0).chain(transitions.iter().map(|(_, offset)| *offset)) {
        data.extend(word(offset));
        // Not summer time, and the first name.
        data.extend([0, 0]);
    }
    data.extend(b"XXX\0");
    TimeZone::tzif("Made/Up", &data).unwrap_or_else(|error| panic!("{error}"))
}

/// Minutes from one transition to the next, and quarters of an hour of the offset.
fn transitions() -> impl Strategy<Value = Vec<(i64, i64)>> {
    let start = seconds("2026-03-31T20:00Z");
    prop::collection::vec((1_i64..180, -8_i64..=8), 1..8).prop_map(move |steps| {
        let mut time = start;
        let next = |(minutes, quarters): (i64, i64)| {
            time += minutes * MINUTE;
            (time, quarters * 15 * MINUTE)
        };
        steps.into_iter().map(next).collect()
    })
}

proptest! {
    #![proptest_config(Config { cases: 1_000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn the_slots_of_a_day(
        cron in crons(),
        transitions in transitions(),
        asked in any::<Index>(),
    ) {
        let zone = zone_of(&transitions);
        let after = seconds("2026-03-31T18:00Z");
        let last = after + 16 * HOUR;
        let expected = reference::slots(&cron, &zone, (after, last), MINUTE);
        prop_assert_eq!(&slots(&cron, &zone, (after, last)), &expected, "{}", cron);

        let asked = between(asked, after, last);
        let later = expected.into_iter().find(|slot| *slot > asked);
        let next = next_slot(&cron, &zone, asked * MICROS).unwrap() / MICROS;
        prop_assert_eq!(Some(next).filter(|next| *next <= last), later, "{} after {}", cron, asked);
    }
}
