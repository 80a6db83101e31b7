//! Crons: any text is read or refused, and told where and why; and what is read is what was meant.

use proptest::prelude::*;
use proptest::sample::select;
use tasklock_grammar::parse_cron;

/// All that an item of a field of days can depend on. Weekdays count from Sunday as 0.
#[derive(Clone, Copy)]
struct Date {
    day: u32,
    weekday: u32,
    first_weekday: u32,
    month_length: u32,
}

/// When an item means a day, in the plainest words.
type Rule = fn(Date) -> bool;

const OF_MONTH: &[(&str, Rule)] = &[
    ("1", |date| date.day == 1),
    ("28-31", |date| date.day >= 28),
    ("30", |date| date.day == 30),
    ("31", |date| date.day == 31),
    ("2/9", |date| [2, 11, 20, 29].contains(&date.day)),
    ("L", |date| date.day == date.month_length),
    ("l-2", |date| date.day + 2 == date.month_length),
    ("L-29", |date| date.day + 29 == date.month_length),
    ("L-30", |date| date.day + 30 == date.month_length),
    ("LW", |date| {
        let rest =
            (date.day + 1..=date.month_length).map(|later| (date.weekday + later - date.day) % 7);
        is_working(date.weekday) && !rest.into_iter().any(is_working)
    }),
    ("1W", |date| {
        nearest(1, date.first_weekday, date.month_length) == Some(date.day)
    }),
    ("15W", |date| {
        nearest(15, date.first_weekday, date.month_length) == Some(date.day)
    }),
    ("30W", |date| {
        nearest(30, date.first_weekday, date.month_length) == Some(date.day)
    }),
    ("31w", |date| {
        nearest(31, date.first_weekday, date.month_length) == Some(date.day)
    }),
];

const OF_WEEK: &[(&str, Rule)] = &[
    ("0", |date| date.weekday == 0),
    ("7", |date| date.weekday == 0),
    ("mon", |date| date.weekday == 1),
    ("2-4", |date| (2..=4).contains(&date.weekday)),
    ("FRI-MON", |date| date.weekday >= 5 || date.weekday <= 1),
    ("SAT-SUN", |date| date.weekday == 6 || date.weekday == 0),
    ("4/2", |date| date.weekday == 4 || date.weekday == 6),
    ("MON#1", |date| date.weekday == 1 && date.day <= 7),
    ("3#5", |date| date.weekday == 3 && date.day >= 29),
    ("FRIL", |date| {
        date.weekday == 5 && date.day + 7 > date.month_length
    }),
    ("7L", |date| {
        date.weekday == 0 && date.day + 7 > date.month_length
    }),
];

/// What a field begins with that starts with a star.
const STARS: &[(&str, Rule)] = &[
    ("*", |_| true),
    ("?", |_| true),
    ("*/2", |date| date.day % 2 == 1),
    ("*/20", |date| date.day == 1 || date.day == 21),
];
const STARS_OF_WEEK: &[(&str, Rule)] = &[
    ("*", |_| true),
    ("?", |_| true),
    ("*/6", |date| date.weekday == 0 || date.weekday == 6),
    ("*/3,1", |date| [0, 1, 3, 6].contains(&date.weekday)),
];

fn is_working(weekday: u32) -> bool {
    (1..=5).contains(&weekday)
}

/// The nearest day from Monday to Friday, of all in the month; a tie cannot be.
fn nearest(day: u32, first: u32, length: u32) -> Option<u32> {
    (1..=length)
        .filter(|near| day <= length && is_working((first + near - 1) % 7))
        .min_by_key(|near| near.abs_diff(day))
}

#[derive(Debug, Clone)]
struct Days {
    is_star: bool,
    items: Vec<(&'static str, Rule)>,
}

impl Days {
    fn text(&self) -> String {
        let texts: Vec<_> = self.items.iter().map(|(text, _)| *text).collect();
        texts.join(",")
    }

    fn has(&self, date: Date) -> bool {
        self.items.iter().any(|(_, rule)| rule(date))
    }
}

fn days(
    stars: &'static [(&'static str, Rule)],
    others: &'static [(&'static str, Rule)],
) -> impl Strategy<Value = Days> {
    let star = select(stars).prop_map(|item| Days {
        is_star: true,
        items: vec![item],
    });
    let list = prop::collection::vec(select(others), 1..4).prop_map(|items| Days {
        is_star: false,
        items,
    });
    prop_oneof![star, list]
}

fn months() -> impl Strategy<Value = Vec<u32>> {
    prop_oneof![
        3 => prop::collection::vec(1_u32..=12, 1..4),
        1 => Just(vec![2]),
        1 => Just((1..=12).collect()),
    ]
}

fn length(year: i32, month: u32) -> u32 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    [
        31,
        28 + u32::from(is_leap),
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ][month as usize - 1]
}

proptest! {
    #![proptest_config(super::cases(300))]

    /// Day by day over 28 years, in which each of the 14 calendars of a year comes. What is refused never
    /// comes.
    #[test]
    fn the_days_are_those_that_the_words_mean(
        of_month in days(STARS, OF_MONTH),
        of_week in days(STARS_OF_WEEK, OF_WEEK),
        months in months(),
    ) {
        let listed: Vec<_> = months.iter().map(u32::to_string).collect();
        let text = format!("0 0 {} {} {}", of_month.text(), listed.join(","), of_week.text());
        let cron = parse_cron(&text);
        let mut weekday = 6; // 1 January 2000 was a Saturday.
        let mut comes = false;
        for (year, month) in (2000..2028).flat_map(|year| (1..=12).map(move |month| (year, month))) {
            let (first, length) = (weekday, length(year, month));
            let mut meant = 0;
            for day in 1..=length {
                let date = Date { day, weekday: (first + day - 1) % 7, first_weekday: first, month_length: length };
                let (one, other) = (of_month.has(date), of_week.has(date));
                let both = of_month.is_star || of_week.is_star;
                let is_meant = if both { one && other } else { one || other };
                meant |= u32::from(is_meant && months.contains(&month)) << day;
            }
            weekday = (weekday + length) % 7;
            comes |= meant != 0;
            if let Ok(cron) = &cron {
                prop_assert_eq!(cron.days_of(year, month as u8), meant, "{} in {}-{}", text, year, month);
            }
        }
        prop_assert_eq!(cron.is_ok(), comes, "{}", text);
        if let Err(error) = cron {
            prop_assert!(error.message().starts_with("this never comes"), "{error:?}");
        }
    }
}

/// A field of numbers: its text, and what it means.
fn numbers(most: u32) -> impl Strategy<Value = (String, Vec<u32>)> {
    let value = (0..=most).prop_map(|value| (value.to_string(), vec![value]));
    let range = (0..=most, 0..=most, 1_u32..10).prop_map(move |(a, b, step)| {
        let (from, to) = (a.min(b), a.max(b));
        let values: Vec<u32> = (from..=to)
            .filter(|value| (value - from) % step == 0)
            .collect();
        let stepped = step > 1 && values.len() > 1;
        let text = if stepped {
            format!("{from}-{to}/{step}")
        } else {
            format!("{from}-{to}")
        };
        (
            text,
            if stepped {
                values
            } else {
                (from..=to).collect()
            },
        )
    });
    let open = (0..=most, 1_u32..10).prop_map(move |(from, step)| {
        let from = from.min(most - step);
        let values = (from..=most).filter(|value| (value - from) % step == 0);
        (format!("{from}/{step}"), values.collect())
    });
    let list = prop::collection::vec(prop_oneof![3 => value, 1 => range, 1 => open], 1..5);
    prop_oneof![
        4 => list.prop_map(|items| {
            let (texts, values): (Vec<String>, Vec<Vec<u32>>) = items.into_iter().unzip();
            (texts.join(","), values.concat())
        }),
        1 => Just(("*".to_owned(), (0..=most).collect())),
        1 => (1_u32..10).prop_map(move |step| {
            (format!("*/{step}"), (0..=most).filter(|value| value % step == 0).collect())
        }),
    ]
}

/// Texts that are nearly crons.
fn nearly() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "*",
        "0",
        "1",
        "7",
        "15",
        "30",
        "31",
        "59",
        "60",
        "24",
        "99999999999",
        "L",
        "LW",
        "W",
        "15W",
        "L-3",
        "MON",
        "mon#1",
        "FRIL",
        "FEB",
        "June",
        "?",
        "@daily",
        "@reboot",
        "5m",
        "#",
        "é",
        "日",
        "\0",
        "\u{301}",
        "٣",
        "1.5",
    ]);
    let glue = select(vec![
        " ", " ", " ", " ", "  ", ",", "-", "/", "", "\t", "\u{a0}", "#", "\"",
    ]);
    prop::collection::vec((piece, glue), 0..12).prop_map(|parts| {
        parts
            .iter()
            .flat_map(|(piece, glue)| [*piece, *glue])
            .collect()
    })
}

proptest! {
    #![proptest_config(super::cases(3_000))]

    #[test]
    fn the_times_are_those_that_the_words_mean(
        second in prop::option::of(numbers(59)),
        minute in numbers(59),
        hour in numbers(23),
    ) {
        let seconds = second.as_ref().map(|(text, _)| format!("{text} ")).unwrap_or_default();
        let cron = parse_cron(&format!("{seconds}{} {} * * *", minute.0, hour.0)).unwrap();
        let bits = |values: &[u32]| values.iter().fold(0_u64, |bits, value| bits | 1 << value);
        prop_assert_eq!(cron.seconds(), bits(&second.map_or(vec![0], |(_, values)| values)));
        prop_assert_eq!(cron.minutes(), bits(&minute.1));
        prop_assert_eq!(u64::from(cron.hours()), bits(&hour.1));
        let is_interval = minute.0.starts_with('*') || hour.0.starts_with('*');
        prop_assert_eq!(cron.is_interval(), is_interval);
    }

    /// What is read is shown so that it is read again as the same.
    #[test]
    fn a_text_is_read_or_told_where_it_is_wrong(
        text in prop_oneof![6 => nearly(), 1 => any::<String>(), 1 => "[*0-9LW#/,@ -]{0,24}"],
    ) {
        match parse_cron(&text) {
            Ok(cron) => {
                let shown = cron.to_string();
                prop_assert!(shown.split(' ').all(|word| !word.is_empty()), "{shown:?}");
                prop_assert_eq!(parse_cron(&shown), Ok(cron));
            }
            Err(error) => {
                let part = text.get(error.range());
                prop_assert!(part.is_some(), "{:?} of {text:?}", error.range());
                prop_assert_eq!(part.unwrap_or_default().is_empty(), text.is_empty(), "{:?}", error);
                prop_assert!(!error.message().contains(char::is_control), "{error:?}");
                prop_assert!(!error.message().is_empty());
            }
        }
    }
}
