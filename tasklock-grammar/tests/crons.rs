//! The grammar of crons as tables: what is accepted, and each mistake with its whole message.

use tasklock_grammar::{Cron, parse_cron};

fn cron(text: &str) -> Cron {
    parse_cron(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn set(bits: u64) -> Vec<u32> {
    (0..64).filter(|place| bits >> place & 1 == 1).collect()
}

#[test]
fn minutes() {
    let all: Vec<u32> = (0..60).collect();
    for (text, values) in [
        ("*", &all[..]),
        ("*/1", &all),
        ("0-59", &all),
        ("7", &[7]),
        ("007", &[7]),
        ("*/15", &[0, 15, 30, 45]),
        ("10-40/10", &[10, 20, 30, 40]),
        ("10-39/10", &[10, 20, 30]),
        ("5/20", &[5, 25, 45]),
        ("5-5", &[5]),
        ("5-5/1", &[5]),
        ("0-59/59", &[0, 59]),
        ("3,1,2,1", &[1, 2, 3]),
        ("1-3,2-5,58/1", &[1, 2, 3, 4, 5, 58, 59]),
        ("*/30,7", &[0, 7, 30]),
    ] {
        let cron = cron(&format!("{text} * * * *"));
        assert_eq!(set(cron.minutes()), values, "{text}");
        assert_eq!(cron.seconds(), 1, "{text}");
        assert_eq!(set(cron.hours().into()).len(), 24);
        assert_eq!(set(cron.months().into()).len(), 12);
    }
}

#[test]
fn the_other_fields() {
    let six = cron("*/20 1 2-4 5 6-8/2 *");
    assert_eq!(set(six.seconds()), [0, 20, 40]);
    assert_eq!(set(six.minutes()), [1]);
    assert_eq!(set(six.hours().into()), [2, 3, 4]);
    assert_eq!(set(six.months().into()), [6, 8]);
    assert_eq!(
        set(cron("0 0 1 jan,Oct-DEC *").months().into()),
        [1, 10, 11, 12]
    );
    assert_eq!(set(cron("0 0 1 */5 *").months().into()), [1, 6, 11]);
}

/// The day fields over June 2026, which begins on a Monday and has 30 days.
#[test]
fn days_of_a_month_that_begins_on_a_monday() {
    for (day, weekday, days) in [
        ("1", "*", &[1][..]),
        ("29-31", "*", &[29, 30]),
        ("*/10", "*", &[1, 11, 21]),
        ("L", "*", &[30]),
        ("l", "*", &[30]),
        ("L-29", "?", &[1]),
        ("L,L-3,1", "*", &[1, 27, 30]),
        ("6W", "*", &[5]),
        ("7w,20W", "*", &[8, 19]),
        ("lw", "*", &[30]),
        ("?", "SUN", &[7, 14, 21, 28]),
        ("*", "0", &[7, 14, 21, 28]),
        ("*", "7", &[7, 14, 21, 28]),
        ("*", "SAT-SUN", &[6, 7, 13, 14, 20, 21, 27, 28]),
        ("*", "6-7", &[6, 7, 13, 14, 20, 21, 27, 28]),
        ("*", "SUN-MON", &[1, 7, 8, 14, 15, 21, 22, 28, 29]),
        ("*", "7-1", &[1, 7, 8, 14, 15, 21, 22, 28, 29]),
        ("1-7", "*", &[1, 2, 3, 4, 5, 6, 7]),
        ("*", "FRI-MON/3", &[1, 5, 8, 12, 15, 19, 22, 26, 29]),
        ("*", "5/1", &[5, 6, 12, 13, 19, 20, 26, 27]),
        ("*", "7/6", &[6, 7, 13, 14, 20, 21, 27, 28]),
        ("*", "mon#1", &[1]),
        ("*", "1#5,SUN#4", &[28, 29]),
        ("*", "WED#5", &[]),
        ("*", "FRIL,1l", &[26, 29]),
        // Both restricted: either.
        ("13", "FRI", &[5, 12, 13, 19, 26]),
        ("L", "MON#1", &[1, 30]),
        // One starts with a star: it narrows.
        ("*/2", "MON", &[1, 15, 29]),
        ("*/7", "MON", &[1, 8, 15, 22, 29]),
        ("1-7", "*/6", &[6, 7]),
        ("*/2,2", "TUE", &[2, 9, 23]),
    ] {
        let cron = cron(&format!("0 0 {day} * {weekday}"));
        assert_eq!(set(cron.days_of(2026, 6).into()), days, "{day} * {weekday}");
        for date in 0..=31 {
            let is_in = days.contains(&u32::from(date));
            assert_eq!(cron.matches_date(2026, 6, date), is_in, "{day} * {weekday}");
        }
    }
}

/// The nearest day from Monday to Friday does not leave the month.
#[test]
fn working_days_at_the_ends_of_a_month() {
    // 1 August 2026 is a Saturday, 31 May 2026 a Sunday.
    assert_eq!(set(cron("0 0 1W * *").days_of(2026, 8).into()), [3]);
    assert_eq!(set(cron("0 0 31W * *").days_of(2026, 5).into()), [29]);
    assert_eq!(set(cron("0 0 LW * *").days_of(2026, 5).into()), [29]);
    assert_eq!(cron("0 0 31W * *").days_of(2026, 6), 0);
}

#[test]
fn the_other_months_and_no_months() {
    let cron = cron("0 0 * 2 *");
    assert_eq!(set(cron.days_of(2024, 2).into()).len(), 29);
    assert_eq!(set(cron.days_of(1900, 2).into()).len(), 28);
    assert_eq!(set(cron.days_of(0, 2).into()).len(), 29);
    for month in [0, 1, 3, 13, 16, 255] {
        assert_eq!(cron.days_of(2024, month), 0);
        assert!(!cron.matches_date(2024, month, 1));
    }
    assert!(!cron.matches_date(2024, 2, 32) && !cron.matches_date(2024, 2, 255));
}

#[test]
fn nicknames() {
    for (nickname, fields, is_interval) in [
        ("@yearly", "0 0 1 1 *", false),
        ("@annually", "0 0 1 1 *", false),
        ("@monthly", "0 0 1 * *", false),
        ("@weekly", "0 0 * * 0", false),
        ("@daily", "0 0 * * *", false),
        ("@Midnight", "0 0 * * *", false),
        (" @HOURLY ", "0 * * * *", true),
    ] {
        let (short, long) = (cron(nickname), cron(fields));
        assert_eq!(short.to_string(), nickname.trim().to_lowercase());
        let times = |cron: &Cron| (cron.seconds(), cron.minutes(), cron.hours(), cron.months());
        assert_eq!(times(&short), times(&long));
        for month in 1..=12 {
            assert_eq!(short.days_of(2026, month), long.days_of(2026, month));
        }
        assert_eq!(short.is_interval(), is_interval);
    }
}

/// A star at the start of the minute or of the hour, and nothing else.
#[test]
fn which_jobs_go_by_elapsed_time() {
    for (text, is_interval) in [
        ("* * * * *", true),
        ("*/15 2 * * *", true),
        ("*/15,7 2 * * *", true),
        ("0 * * * *", true),
        ("30 */2 * * *", true),
        ("0-59 0-23 * * *", false),
        ("0/15 2 * * *", false),
        ("0 0 * * *", false),
        ("0,30 2 */2 */2 */2", false),
        ("*/10 30 2 * * *", false),
        ("* 0-59 0-23 * * *", false),
        ("0 */10 2 * * *", true),
    ] {
        assert_eq!(cron(text).is_interval(), is_interval, "{text}");
    }
}

#[test]
fn shown_as_it_was_written_but_for_blanks_and_case() {
    for (text, shown) in [
        ("0 9 * * MON-FRI", "0 9 * * MON-FRI"),
        ("\t0   9 *\u{a0}* mon-fri\n", "0 9 * * MON-FRI"),
        ("00 0 ? jan 5l", "00 0 ? JAN 5L"),
        ("0 0 0 lw * *", "0 0 0 LW * *"),
    ] {
        let first = cron(text);
        assert_eq!(first.to_string(), shown);
        assert_eq!(cron(shown), first);
    }
    assert_ne!(cron("@daily"), cron("0 0 * * *"));
}

/// It is kept in every definition of a task.
#[test]
fn a_cron_is_small() {
    assert!(size_of::<Cron>() <= 96, "{}", size_of::<Cron>());
}
