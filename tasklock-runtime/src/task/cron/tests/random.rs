//! Expressions, zones and instants to try.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use tasklock_grammar::{Cron, parse_cron};

use super::zone;

/// Zones with something in their past or in their rules.
pub(super) const ZONES: &[&str] = &[
    "UTC",
    "Africa/Cairo",
    "Africa/Casablanca",
    "Africa/Monrovia",
    "America/Anchorage",
    "America/Caracas",
    "America/Havana",
    "America/Juneau",
    "America/New_York",
    "America/Nuuk",
    "America/Santiago",
    "America/Sao_Paulo",
    "America/St_Johns",
    "Antarctica/Casey",
    "Antarctica/Troll",
    "Asia/Amman",
    "Asia/Gaza",
    "Asia/Kathmandu",
    "Asia/Kolkata",
    "Asia/Manila",
    "Asia/Pyongyang",
    "Asia/Tehran",
    "Australia/Lord_Howe",
    "Europe/Amsterdam",
    "Europe/Berlin",
    "Europe/Dublin",
    "Europe/Istanbul",
    "Europe/Lisbon",
    "Europe/London",
    "Pacific/Apia",
    "Pacific/Chatham",
    "Pacific/Kiritimati",
    "Pacific/Kwajalein",
    "Pacific/Tongatapu",
];

pub(super) fn zones() -> impl Strategy<Value = (&'static str, TimeZone)> {
    select(ZONES).prop_map(|name| (name, zone(name)))
}

/// The first second in which this test looks: 1840, before the first zones were made.
const FIRST: i64 = -4_102_444_800;
/// And the last: 2100, where rules go on without end.
const LAST: i64 = 4_102_444_800;

/// Near a transition of the zone, or anywhere.
pub(super) fn second(zone: &TimeZone, at: i64, near: Option<i64>) -> i64 {
    let anywhere = FIRST + at.rem_euclid(LAST - FIRST);
    let from = Timestamp::from_second(anywhere).unwrap();
    let transition = zone
        .following(from)
        .next()
        .or_else(|| zone.preceding(from).next())
        .map(|transition| transition.timestamp().as_second());
    match (transition, near) {
        (Some(transition), Some(near)) => transition + near,
        _ => anywhere,
    }
}

/// Seconds from a transition, mostly few.
pub(super) fn near() -> impl Strategy<Value = Option<i64>> {
    prop_oneof![
        4 => (-10_000_i64..10_000).prop_map(Some),
        2 => (-100_000_i64..100_000).prop_map(Some),
        1 => select(vec![-3601, -3600, -1801, -1800, -1, 0, 1, 1799, 1800, 3599, 3600]).prop_map(Some),
        2 => Just(None),
    ]
}

fn numbers(most: u32, often: &'static [u32]) -> impl Strategy<Value = String> {
    let value = prop_oneof![2 => select(often), 1 => 0..=most];
    let list = prop::collection::vec(value.clone(), 1..4).prop_map(|values| {
        let texts: Vec<_> = values.iter().map(u32::to_string).collect();
        texts.join(",")
    });
    let range = (value.clone(), value).prop_map(|(a, b)| format!("{}-{}", a.min(b), a.max(b)));
    prop_oneof![
        4 => list,
        2 => range,
        2 => Just("*".to_owned()),
        2 => (2_u32..=20).prop_map(|step| format!("*/{step}")),
        1 => (2_u32..=3).prop_map(move |step| format!("0-{most}/{step}")),
    ]
}

fn dates() -> impl Strategy<Value = String> {
    let words = |words: &'static [&'static str]| select(words).prop_map(str::to_owned);
    let day = prop_oneof![
        6 => words(&["*"]),
        2 => (1_u32..=31).prop_map(|day| day.to_string()),
        2 => words(&["L", "LW", "L-3", "15W", "1W", "31W", "28-31", "*/2", "*/10", "?", "L-30", "30,31"]),
    ];
    let month = prop_oneof![
        6 => words(&["*"]),
        1 => (1_u32..=12).prop_map(|month| month.to_string()),
        1 => words(&["MAR-NOV", "2", "3,10,11", "*/3"]),
    ];
    let weekday = prop_oneof![
        6 => words(&["*"]),
        2 => (0_u32..=7).prop_map(|weekday| weekday.to_string()),
        2 => words(&["SUN", "MON-FRI", "SUN#1", "SUN#2", "SUNL", "SAT-SUN", "THU#5", "*/2", "?"]),
    ];
    (day, month, weekday).prop_map(|(day, month, weekday)| format!("{day} {month} {weekday}"))
}

fn parsed(text: impl Strategy<Value = String>) -> impl Strategy<Value = Cron> {
    text.prop_filter_map("never comes", |text| parse_cron(&text).ok())
}

/// Five fields.
pub(super) fn crons() -> impl Strategy<Value = Cron> {
    let hours = numbers(23, &[0, 1, 2, 3, 23]);
    let text = (numbers(59, &[0, 15, 30, 45, 59]), hours, dates());
    parsed(text.prop_map(|(minute, hour, date)| format!("{minute} {hour} {date}")))
}

/// Six fields.
pub(super) fn crons_of_seconds() -> impl Strategy<Value = Cron> {
    let hours = numbers(23, &[0, 1, 2, 3, 23]);
    let text = (numbers(59, &[0, 1, 30, 58]), numbers(59, &[0, 30]), hours);
    parsed(text.prop_map(|(second, minute, hour)| format!("{second} {minute} {hour} * * *")))
}

/// An instant of a range, ends included.
pub(super) fn between(index: Index, from: i64, to: i64) -> i64 {
    let length = usize::try_from(to - from + 1).unwrap();
    from + i64::try_from(index.index(length)).unwrap()
}
