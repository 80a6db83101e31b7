//! croner, a cron crate with a reader and a search of its own, as an oracle.
//!
//! It is asked where its rule is the declared one. Where it is another one:
//!
//! - croner takes a job for an interval job unless its minute, hour and second are one value each. So what
//!   has a list or a range and no `*` loses its times in a gap (`30 2,14 * * *` does not run in New York
//!   on 8 March 2026 until 14:30) and runs in both passes of an overlap (`30 1,13 * * *` runs twice on 1
//!   November 2026 before 02:00). Here they run at the gap's end, and once.
//! - croner searches the end of a gap for two hours: on Apia's lost day it fails for `0 0 * * *`.
//! - croner runs a job at a gap's end only if the date after the gap is one of the expression's as well.
//! - croner takes `*/2` in a field of days for a restricted one, so that `0 0 */2 * MON` runs on odd
//!   dates and on Mondays. Here, as in Vixie's cron, it runs on Mondays with an odd date.
//! - croner refuses `5/20`, `FRI-MON`, `L-3` and the like, which have a meaning here, and reads `*/90`,
//!   `1,` and `0 0 31 2 *`, which are refused here.
//!
//! It knows jiff, but another version of it, so it is shown its own kind of clock.

use std::cmp::Ordering;

use croner::errors::CronError;
use croner::parser::CronParser;
use croner::time::{CivilDate, CivilDateTime, CivilTime, CronDateTime, Resolution, Weekday};
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use proptest::test_runner::Config;
use tasklock_grammar::Cron;

use super::random::{crons, near, second, zones};
use super::{cron, seconds, slots, zone};

const DAY: i64 = 24 * 60 * 60;

/// An instant on the clock of a zone.
#[derive(Clone)]
struct Wall {
    zone: TimeZone,
    at: Timestamp,
}

impl Wall {
    fn shows(&self) -> DateTime {
        self.zone.to_datetime(self.at)
    }

    fn when(&self, reading: DateTime, offset: Offset) -> Result<Self, CronError> {
        let at = offset
            .to_timestamp(reading)
            .map_err(|_| CronError::InvalidDate)?;
        Ok(Self {
            zone: self.zone.clone(),
            at,
        })
    }
}

fn unsigned(number: i8) -> u32 {
    number.unsigned_abs().into()
}

fn signed(number: u32) -> i8 {
    i8::try_from(number).unwrap()
}

impl CronDateTime for Wall {
    fn to_civil(&self) -> CivilDateTime {
        let shown = self.shows();
        CivilDateTime::new(
            CivilDate::from_parts_unchecked(
                shown.year().into(),
                unsigned(shown.month()),
                unsigned(shown.day()),
            ),
            CivilTime::from_parts_unchecked(
                unsigned(shown.hour()),
                unsigned(shown.minute()),
                unsigned(shown.second()),
            ),
        )
    }

    fn civil_weekday(&self) -> Weekday {
        Weekday::from_days_from_sunday(unsigned(self.shows().weekday().to_sunday_zero_offset()))
    }

    fn resolve_civil(&self, civil: CivilDateTime) -> Result<Resolution<Self>, CronError> {
        let year = i16::try_from(civil.year()).map_err(|_| CronError::InvalidDate)?;
        let [month, day] = [civil.month(), civil.day()].map(signed);
        let [hour, minute, second] = [civil.hour(), civil.minute(), civil.second()].map(signed);
        let reading = DateTime::new(year, month, day, hour, minute, second, 0)
            .map_err(|_| CronError::InvalidDate)?;
        Ok(match self.zone.to_ambiguous_timestamp(reading).offset() {
            AmbiguousOffset::Unambiguous { offset } => {
                Resolution::Single(self.when(reading, offset)?)
            }
            AmbiguousOffset::Fold { before, after } => {
                Resolution::Ambiguous(self.when(reading, before)?, self.when(reading, after)?)
            }
            AmbiguousOffset::Gap { .. } => Resolution::Gap,
        })
    }

    fn checked_add_seconds(&self, seconds: i64) -> Option<Self> {
        let at = self
            .at
            .checked_add(SignedDuration::from_secs(seconds))
            .ok()?;
        Some(Self {
            zone: self.zone.clone(),
            at,
        })
    }

    fn cmp_instant(&self, other: &Self) -> Ordering {
        self.at.cmp(&other.at)
    }
}

/// croner's slots in a window, or `None` if it does not read the expression.
fn theirs(cron: &Cron, zone: &TimeZone, (after, last): (i64, i64)) -> Option<Vec<i64>> {
    let parsed = CronParser::new().parse(&cron.to_string()).ok()?;
    let mut wall = Wall {
        zone: zone.clone(),
        at: Timestamp::from_second(after).unwrap(),
    };
    let mut slots = Vec::new();
    while let Ok(next) = parsed.find_next_occurrence(&wall, false)
        && next.at.as_second() <= last
    {
        slots.push(next.at.as_second());
        wall = next;
    }
    Some(slots)
}

/// Whether both have one rule for what happens in a window.
fn one_rule(cron: &Cron, zone: &TimeZone, (after, last): (i64, i64)) -> bool {
    let text = cron.to_string();
    let fields: Vec<_> = text.split(' ').collect();
    let [day, weekday] = [fields[2], fields[4]];
    let narrows =
        |field: &str, other: &str| field.starts_with("*/") && !["*", "?"].contains(&other);
    if narrows(day, weekday) || narrows(weekday, day) {
        return false;
    }
    let offset = |second| {
        zone.to_offset(Timestamp::from_second(second).unwrap())
            .seconds()
    };
    let offsets: Vec<_> = (after - DAY..=last).step_by(900).map(offset).collect();
    let (least, most) = (offsets.iter().min(), offsets.iter().max());
    let is_set_by = most.unwrap() - least.unwrap();
    let is_one_value =
        cron.minutes().is_power_of_two() && cron.hours().is_power_of_two() && !text.contains('/');
    // A date of its own may not be that of the gap's end.
    let is_daily = [day, weekday]
        .iter()
        .all(|field| ["*", "?"].contains(field));
    is_set_by == 0 || cron.is_interval() || (is_one_value && is_daily && is_set_by <= 7200)
}

proptest! {
    #![proptest_config(Config {
        cases: 400,
        failure_persistence: None,
        max_global_rejects: 20_000,
        ..Config::default()
    })]

    #[test]
    fn croner_agrees_where_it_has_the_same_rule(
        cron in crons(),
        (name, zone) in zones(),
        at in any::<i64>(),
        near in near(),
    ) {
        let after = second(&zone, at, near) - DAY;
        let window = (after, after + 2 * DAY);
        prop_assume!(one_rule(&cron, &zone, window));
        let theirs = theirs(&cron, &zone, window);
        prop_assume!(theirs.is_some());
        prop_assert_eq!(Some(slots(&cron, &zone, window)), theirs, "{} in {} after {}", cron, name, after);
    }
}

/// The reason for a search of our own. Should croner agree one day, the list above is to be shortened.
#[test]
fn croner_differs_where_it_has_another_rule() {
    for (text, name, from) in [
        ("30 2,14 * * *", "America/New_York", "2026-03-08T00:00Z"),
        ("0,30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z"),
        ("30 1,13 * * *", "America/New_York", "2026-11-01T00:00Z"),
        ("0 0 * * *", "Pacific/Apia", "2011-12-29T12:00Z"),
        ("0 0 */2 * MON", "UTC", "2026-06-01T00:00Z"),
    ] {
        let (cron, zone, from) = (cron(text), zone(name), seconds(from));
        let window = (from, from + 2 * DAY);
        let ours = slots(&cron, &zone, window);
        assert_ne!(Some(ours), theirs(&cron, &zone, window), "{text} in {name}");
    }
}
