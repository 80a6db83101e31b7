//! Each mistake in a cron, the part that is wrong, and the whole message.

use tasklock_grammar::parse_cron;

/// The text, the wrong part of it, the message.
const REFUSED: &[(&str, &str, &str)] = &[
    // As a whole.
    ("", "", "the cron is empty: write one such as \"0 3 * * *\""),
    (
        "  ",
        "  ",
        "the cron is empty: write one such as \"0 3 * * *\"",
    ),
    (
        "5m",
        "5m",
        "`5m` is a duration and no cron: write `every = \"5m\"` for a fixed rate, or a cron such as \"0 3 * * *\"",
    ),
    (
        "0 0 * *",
        "0 0 * *",
        "a cron has five fields (minute, hour, day of the month, month, day of the week) and this has 4: write one such as \"0 0 * * *\"",
    ),
    (
        "0 0",
        "0 0",
        "a cron has five fields (minute, hour, day of the month, month, day of the week) and this has 2: write one such as \"0 3 * * *\"",
    ),
    (
        "0 0 1,99 *",
        "0 0 1,99 *",
        "a cron has five fields (minute, hour, day of the month, month, day of the week) and this has 4: write one such as \"0 3 * * *\"",
    ),
    (
        "0 0 12 * * MON 2026",
        "2026",
        "a cron has five fields, or six with seconds before them, and none for the year: leave the seventh out",
    ),
    (
        "0 0 0 0 0 0 0 0 0",
        "0 0 0",
        "a cron has five fields, or six with seconds before them, and this has 9: leave the last 3 out",
    ),
    // Nicknames.
    (
        "@reboot",
        "@reboot",
        "`@reboot` is no time: with `on_start = true` a task runs once when it is first deployed",
    ),
    ("@dayly", "@dayly", "there is no `@dayly`: write \"@daily\""),
    (
        "@every 5m",
        "@every 5m",
        "`@every` is no cron: write `every = \"5m\"` in place of `cron`",
    ),
    ("@daily 5", "5", "`@daily` stands alone: leave the rest out"),
    // Numbers that the field does not have.
    (
        "60 * * * *",
        "60",
        "there is no minute 60, minutes are 0 to 59: write \"0\"",
    ),
    (
        "0-60 * * * *",
        "60",
        "there is no minute 60, minutes are 0 to 59: write \"59\" or less",
    ),
    (
        "0 24 * * *",
        "24",
        "there is no hour 24, hours are 0 to 23: write \"0\"",
    ),
    (
        "0 0 0 * *",
        "0",
        "there is no day of the month 0, days of the month are 1 to 31: write \"1\" or more",
    ),
    (
        "0 0 32 * *",
        "32",
        "there is no day of the month 32, days of the month are 1 to 31: write \"31\" or less, or \"L\" for the last one",
    ),
    (
        "0 0 1-32 * *",
        "32",
        "there is no day of the month 32, days of the month are 1 to 31: write \"31\" or less",
    ),
    (
        "0 0 1 0 *",
        "0",
        "there is no month 0, months are 1 to 12: write \"1\" or more",
    ),
    (
        "0 0 1 13 *",
        "13",
        "there is no month 13, months are 1 to 12: write \"12\" or less",
    ),
    (
        "0 0 * * 8",
        "8",
        "there is no day of the week 8, days of the week are 0 to 7: write \"7\" or less",
    ),
    (
        "0 0 99999999999999999999 * *",
        "99999999999999999999",
        "there is no day of the month 99999999999999999999, days of the month are 1 to 31: write \"31\" or less, or \"L\" for the last one",
    ),
    // Names.
    (
        "0 0 * JUNE *",
        "JUNE",
        "there is no month `JUNE`: write \"JUN\"",
    ),
    (
        "0 0 * sept *",
        "sept",
        "there is no month `sept`: write \"SEP\"",
    ),
    (
        "0 0 * * MONDAY",
        "MONDAY",
        "there is no day of the week `MONDAY`: write \"MON\"",
    ),
    (
        "0 0 * * tues",
        "tues",
        "there is no day of the week `tues`: write \"TUE\"",
    ),
    (
        "0 0 * MON *",
        "MON",
        "`MON` is a day of the week and stands in the field for the month: the fields are minute, hour, day of the month, month, day of the week",
    ),
    (
        "0 0 * * JAN",
        "JAN",
        "`JAN` is a month and stands in the field for the day of the week: the fields are minute, hour, day of the month, month, day of the week",
    ),
    (
        "0 0 * * XYZ",
        "XYZ",
        "there is no day of the week `XYZ`: write a number from 0 to 7, where both are Sunday, or a name such as \"MON\"",
    ),
    (
        "0 0 * ABC *",
        "ABC",
        "there is no month `ABC`: write a number from 1 to 12, or a name such as \"JAN\"",
    ),
    (
        "x * * * *",
        "x",
        "there is no minute `x`: write a number from 0 to 59, as in \"3\"",
    ),
    (
        "0 L * * *",
        "L",
        "there is no hour `L`: write a number from 0 to 23, as in \"3\"",
    ),
    (
        "H * * * *",
        "H",
        "there is no minute `H`: write a number from 0 to 59, as in \"3\"",
    ),
    (
        "0 0 JAN * *",
        "JAN",
        "`JAN` is a month and stands in the field for the day of the month: the fields are minute, hour, day of the month, month, day of the week",
    ),
    // Steps.
    (
        "*/0 * * * *",
        "0",
        "a step is a number above 0, and `0` in the field for the minute is none: write \"1\" or more",
    ),
    (
        "*/ * * * *",
        "*/",
        "the number after `/` is missing in the field for the minute: write it as in \"*/5\"",
    ),
    (
        "/5 * * * *",
        "/5",
        "what comes before `/` is missing in the field for the minute: write it as in \"*/5\"",
    ),
    (
        "*/-1 * * * *",
        "-1",
        "a step is a number above 0, and `-1` in the field for the minute is none: write \"1\" or more",
    ),
    (
        "*/5/5 * * * *",
        "5/5",
        "a step is a number above 0, and `5/5` in the field for the minute is none: write \"1\" or more",
    ),
    (
        "*/60 * * * *",
        "*/60",
        "a step of 60 is longer than its range of minutes, which leaves the minute 0 alone: write \"0\", or use a fixed rate such as `every = \"60m\"`",
    ),
    (
        "*/90 * * * *",
        "*/90",
        "a step of 90 is longer than its range of minutes, which leaves the minute 0 alone: write \"0\", or use a fixed rate such as `every = \"90m\"`",
    ),
    (
        "10-20/11 * * * *",
        "10-20/11",
        "a step of 11 is longer than its range of minutes, which leaves the minute 10 alone: write \"10\"",
    ),
    (
        "55/10 * * * *",
        "55/10",
        "a step of 10 is longer than its range of minutes, which leaves the minute 55 alone: write \"55\"",
    ),
    (
        "0 0 */31 * *",
        "*/31",
        "a step of 31 is longer than its range of days of the month, which leaves the day of the month 1 alone: write \"1\", or use a fixed rate such as `every = \"31d\"`",
    ),
    (
        "0 */24 * * *",
        "*/24",
        "a step of 24 is longer than its range of hours, which leaves the hour 0 alone: write \"0\", or use a fixed rate such as `every = \"24h\"`",
    ),
    (
        "0 0 1 */12 *",
        "*/12",
        "a step of 12 is longer than its range of months, which leaves the month 1 alone: write \"1\"",
    ),
    (
        "0 0 * * */7",
        "*/7",
        "a step of 7 is longer than its range of days of the week, which leaves the day of the week 0 alone: write \"0\"",
    ),
    (
        "0 0 * * 7/7",
        "7/7",
        "a step of 7 is longer than its range of days of the week, which leaves the day of the week 0 alone: write \"0\"",
    ),
    // Ranges that run backwards.
    (
        "40-10 * * * *",
        "40-10",
        "the range of minutes runs backwards: write \"10-40\", or \"40-59,0-10\" to go around the end",
    ),
    (
        "0 22-2 * * *",
        "22-2",
        "the range of hours runs backwards: write \"2-22\", or \"22-23,0-2\" to go around the end",
    ),
    (
        "0 22-0 * * *",
        "22-0",
        "the range of hours runs backwards: write \"0-22\", or \"22-23,0\" to go around the end",
    ),
    (
        "0 0 1 NOV-FEB *",
        "NOV-FEB",
        "the range of months runs backwards: write \"FEB-NOV\", or \"NOV-DEC,JAN-FEB\" to go around the end",
    ),
    (
        "0 0 1 11-2 *",
        "11-2",
        "the range of months runs backwards: write \"2-11\", or \"11-12,1-2\" to go around the end",
    ),
    (
        "0 22-2/2 * * *",
        "22-2",
        "the range of hours runs backwards: write \"2-22\"",
    ),
    (
        "0 0 20-10 * *",
        "20-10",
        "the range of days of the month runs backwards: write \"10-20\", or \"20-31,1-10\" to go around the end",
    ),
    // Lists and signs.
    (
        "1,,2 * * * *",
        "1,,2",
        "a value is missing in the list of minutes, which has no blanks in it: write \"1,2\"",
    ),
    (
        ",1 * * * *",
        ",1",
        "a value is missing in the list of minutes, which has no blanks in it: write \"1\"",
    ),
    (
        "1, * * * *",
        "1,",
        "a value is missing in the list of minutes, which has no blanks in it: write \"1\"",
    ),
    (
        "1, 2 * * * *",
        "1,",
        "a value is missing in the list of seconds, which has no blanks in it: write \"1\"",
    ),
    (
        "-5 * * * *",
        "-5",
        "the start of the range is missing in the field for the minute: write it as in \"3-5\"",
    ),
    (
        "5- * * * *",
        "5-",
        "the end of the range is missing in the field for the minute: write it as in \"3-5\"",
    ),
    (
        "1-2-3 * * * *",
        "2-3",
        "unexpected `-` in the field for the minute: write a number from 0 to 59, as in \"3\"",
    ),
    (
        "1.5 * * * *",
        "1.5",
        "unexpected `.` in the field for the minute: write a number from 0 to 59, as in \"3\"",
    ),
    (
        "+1 * * * *",
        "+1",
        "unexpected `+` in the field for the minute: write a number from 0 to 59, as in \"3\"",
    ),
    (
        "é * * * *",
        "é",
        "there is no minute `é`: write a number from 0 to 59, as in \"3\"",
    ),
    (
        "1;2 * * * *",
        "1;2",
        "unexpected `;` in the field for the minute: write a number from 0 to 59, as in \"3\"",
    ),
    (
        "** * * * *",
        "**",
        "`*` stands alone or before a step: write a minute in its place",
    ),
    (
        "5-* * * * *",
        "*",
        "`*` stands alone or before a step: write a minute in its place",
    ),
    (
        "*,5 * * * *",
        "*,5",
        "`*` is every value already: write \"*\" alone",
    ),
    (
        "5,*/15 * * * *",
        "5,*/15",
        "what starts with `*` comes first in a list: write \"*/15,5\"",
    ),
    (
        "? * * * *",
        "?",
        "only the fields of days have `?`: write \"*\" for every minute",
    ),
    (
        "0 0 ?,3 * *",
        "?",
        "`?` stands alone in its field: write a day of the month in its place",
    ),
    (
        "0 0 ?/2 * *",
        "?",
        "`?` stands alone in its field: write a day of the month in its place",
    ),
    (
        "0 0 3? * *",
        "3?",
        "`?` stands alone in its field: write a day of the month in its place",
    ),
    // What only days have.
    (
        "0 0 * * L",
        "L",
        "`L` stands after a day of the week: write it as in \"FRIL\" for the last Friday",
    ),
    (
        "0 0 W * *",
        "W",
        "`W` stands after a day of the month: write it as in \"15W\" or \"LW\"",
    ),
    (
        "0 0 WL * *",
        "WL",
        "the last day from Monday to Friday is written \"LW\"",
    ),
    (
        "0 0 5L * *",
        "5L",
        "the last day of the month is written \"L\", and one before it as in \"L-3\"",
    ),
    (
        "0 0 FRIL * *",
        "FRIL",
        "`FRIL` stands in the field for the day of the month: write \"*\" there, and it in the last field",
    ),
    (
        "0 0 L-0 * *",
        "L-0",
        "after `L-` stands how many days before the last one of the month, 1 to 30: write it as in \"L-3\", or \"L\" for the last day itself",
    ),
    (
        "0 0 L-31 * *",
        "L-31",
        "after `L-` stands how many days before the last one of the month, 1 to 30: write it as in \"L-3\", or \"L\" for the last day itself",
    ),
    (
        "0 0 L-3W * *",
        "L-3W",
        "`L-` and `W` do not go together: write \"LW\", or a number of days before the last one as in \"L-3\"",
    ),
    (
        "0 0 1-5W * *",
        "1-5W",
        "`W` goes with one day, for the nearest one from Monday to Friday: write each as in \"1W,15W\", or MON-FRI in the field for the day of the week",
    ),
    (
        "0 0 32W * *",
        "32",
        "there is no day of the month 32, days of the month are 1 to 31: write \"31\" or less, or \"L\" for the last one",
    ),
    (
        "0 0 xW * *",
        "x",
        "there is no day of the month `x`: write a number from 1 to 31, as in \"3\"",
    ),
    (
        "0 0 L/2 * *",
        "L",
        "there is no day of the month `L`: write a number from 1 to 31, as in \"3\"",
    ),
    (
        "0 0 1-L * *",
        "1-L",
        "a range ends with a number: write \"1-31\" to go to the end of each month",
    ),
    (
        "0 0 * * MON#6",
        "MON#6",
        "after `#` stands which one of the month, 1 to 5: write it as in \"MON#1\", or \"MONL\" for the last one",
    ),
    (
        "0 0 * * MON#0",
        "MON#0",
        "after `#` stands which one of the month, 1 to 5: write it as in \"MON#1\", or \"MONL\" for the last one",
    ),
    (
        "0 0 * * MON#",
        "MON#",
        "after `#` stands which one of the month, 1 to 5: write it as in \"MON#1\", or \"MONL\" for the last one",
    ),
    (
        "0 0 * * #2",
        "#2",
        "`#` and `L` go with one day of the week: write each as in \"MON#1,TUE#1\" or \"THUL,FRIL\"",
    ),
    ("0 0 * * MON#L", "MON#L", "the last one is written \"MONL\""),
    (
        "0 0 * * MON-FRI#1",
        "MON-FRI#1",
        "`#` and `L` go with one day of the week: write each as in \"MON#1,TUE#1\" or \"THUL,FRIL\"",
    ),
    (
        "0 0 * * 8#1",
        "8",
        "there is no day of the week 8, days of the week are 0 to 7: write \"7\" or less",
    ),
    (
        "0 0 * * XYZL",
        "XYZ",
        "there is no day of the week `XYZ`: write a number from 0 to 7, where both are Sunday, or a name such as \"MON\"",
    ),
    (
        "0 0 * * MON-FRIL",
        "MON-FRIL",
        "`#` and `L` go with one day of the week: write each as in \"MON#1,TUE#1\" or \"THUL,FRIL\"",
    ),
    (
        "0 0 * * FRIDAYL",
        "FRIDAY",
        "there is no day of the week `FRIDAY`: write \"FRI\"",
    ),
    (
        "0 0 * * MON#1#2",
        "MON#1#2",
        "after `#` stands which one of the month, 1 to 5: write it as in \"MON#1\", or \"MONL\" for the last one",
    ),
    (
        "0 0 * * FRI#1L",
        "FRI#1L",
        "after `#` stands which one of the month, 1 to 5: write it as in \"FRI#1\", or \"FRIL\" for the last one",
    ),
    // Dates that never come.
    (
        "0 0 31 2 *",
        "31",
        "this never comes: there is no day `31` in `2`, 29 days are the most; write a day that comes, or \"L\" for the last one",
    ),
    (
        "0 0 31 4,6 *",
        "31",
        "this never comes: there is no day `31` in `4,6`, 30 days are the most; write a day that comes, or \"L\" for the last one",
    ),
    (
        "0 0 31W 2 *",
        "31W",
        "this never comes: there is no day `31W` in `2`, 29 days are the most; write a day that comes, or \"LW\" for the last one",
    ),
    (
        "0 0 L-30 4 *",
        "L-30",
        "this never comes: there is no day `L-30` in `4`, 30 days are the most; write a day that comes, or \"L\" for the last one",
    ),
    (
        "0 0 30,31 feb *",
        "30,31",
        "this never comes: there is no day `30,31` in `feb`, 29 days are the most; write a day that comes, or \"L\" for the last one",
    ),
    (
        "0 0 */20 2 MON#2",
        "MON#2",
        "this never comes: no day in the months `2` is both in `*/20` and in `MON#2`, and it has to be, because a field that starts with `*` only narrows the other one; write \"*\" in one of the two",
    ),
    (
        "0 0 */20 * MON#2",
        "MON#2",
        "this never comes: no day in the months `*` is both in `*/20` and in `MON#2`, and it has to be, because a field that starts with `*` only narrows the other one; write \"*\" in one of the two",
    ),
    (
        "0 0 31 2 */2",
        "31",
        "this never comes: there is no day `31` in `2`, 29 days are the most; write a day that comes, or \"L\" for the last one",
    ),
];

#[test]
fn refused() {
    for (text, part, message) in REFUSED {
        let error = parse_cron(text).expect_err(text);
        assert_eq!(error.message(), *message, "{text}");
        assert_eq!(&text[error.range()], *part, "{text}");
        assert_eq!(error.to_string(), *message);
    }
}

/// Of two equal parts, the one that is wrong.
#[test]
fn where_the_mistake_is() {
    for (text, range) in [
        ("5 5 5 5 8", 8..9),
        ("  0 0 0 * *", 6..7),
        ("0 0 * * MON,TUE,MON#6", 16..21),
        ("0 0 ä 2 *", 4..6),
        ("0 0 0 31 31 *", 9..11),
        ("30 30 30 2 *", 3..5),
        ("30 3 30 2 *", 5..7),
    ] {
        assert_eq!(parse_cron(text).unwrap_err().range(), range, "{text}");
    }
}

/// Whoever does as the message says gets rid of the mistake.
#[test]
fn what_the_messages_say_to_write_is_right() {
    for (text, _, message) in REFUSED {
        let range = parse_cron(text).expect_err(text).range();
        // Code stands in backticks, and is for elsewhere.
        let outside = message.split('`').step_by(2).collect::<Vec<_>>().concat();
        for said in outside.split('"').skip(1).step_by(2) {
            let mended = format!("{}{said}{}", &text[..range.start], &text[range.end..]);
            // Unless there was a second one.
            let second = parse_cron(&mended).err();
            assert!(
                second
                    .as_ref()
                    .is_none_or(|second| second.range().start > range.start),
                "{text}: {said} {second:?}"
            );
        }
    }
}
