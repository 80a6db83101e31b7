//! What happens when clocks are set, row by row.
//!
//! A heading names a zone, an instant, and what its clock shows then by the offset before and by the one
//! after. Under it stands an expression in each row, with its runs: by the clock, with its offset, and in UTC.
//! They are those from 22 hours before the instant to 26 hours after it; of the expressions of
//! many runs, those from 31 minutes before to 46 minutes after.
//!
//! Worth a look: the one run at the end of each gap, `30 1,13 * * *` in autumn, the two runs of
//! `0,30 2 * * *` in spring on Lord Howe (02:00 and 02:30 are the gap and its end: one run), and the
//! midnights that do not exist or come twice.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::{cron, reference, seconds, slots, zone};

const TABLE: &str = "
America/New_York 2026-03-08T07:00Z: Sun 02:00 -05 is Sun 03:00 -04
30 2 * * *    | Sun 03:00-04 = 07:00Z, Mon 02:30-04 = 06:30Z
30 2,14 * * * | Sat 14:30-05 = 19:30Z, Sun 03:00-04 = 07:00Z, Sun 14:30-04 = 18:30Z, Mon 02:30-04 = 06:30Z
30 1,13 * * * | Sat 13:30-05 = 18:30Z, Sun 01:30-05 = 06:30Z, Sun 13:30-04 = 17:30Z, Mon 01:30-04 = 05:30Z
0,30 2 * * *  | Sun 03:00-04 = 07:00Z, Mon 02:00-04 = 06:00Z, Mon 02:30-04 = 06:30Z
*/15 * * * *  | Sun 01:30-05 = 06:30Z, Sun 01:45-05 = 06:45Z, Sun 03:00-04 = 07:00Z, Sun 03:15-04 = 07:15Z, Sun 03:30-04 = 07:30Z, Sun 03:45-04 = 07:45Z
0 0 * * *     | Sun 00:00-05 = 05:00Z, Mon 00:00-04 = 04:00Z

America/New_York 2026-11-01T06:00Z: Sun 02:00 -04 is Sun 01:00 -05
30 2 * * *    | Sun 02:30-05 = 07:30Z, Mon 02:30-05 = 07:30Z
30 2,14 * * * | Sat 14:30-04 = 18:30Z, Sun 02:30-05 = 07:30Z, Sun 14:30-05 = 19:30Z, Mon 02:30-05 = 07:30Z
30 1,13 * * * | Sat 13:30-04 = 17:30Z, Sun 01:30-04 = 05:30Z, Sun 13:30-05 = 18:30Z, Mon 01:30-05 = 06:30Z
0,30 2 * * *  | Sun 02:00-05 = 07:00Z, Sun 02:30-05 = 07:30Z, Mon 02:00-05 = 07:00Z, Mon 02:30-05 = 07:30Z
*/15 * * * *  | Sun 01:30-04 = 05:30Z, Sun 01:45-04 = 05:45Z, Sun 01:00-05 = 06:00Z, Sun 01:15-05 = 06:15Z, Sun 01:30-05 = 06:30Z, Sun 01:45-05 = 06:45Z
0 0 * * *     | Sun 00:00-04 = 04:00Z, Mon 00:00-05 = 05:00Z

Europe/Berlin 2026-03-29T01:00Z: Sun 02:00 +01 is Sun 03:00 +02
30 2 * * *    | Sun 03:00+02 = 01:00Z, Mon 02:30+02 = 00:30Z
30 2,14 * * * | Sat 14:30+01 = 13:30Z, Sun 03:00+02 = 01:00Z, Sun 14:30+02 = 12:30Z, Mon 02:30+02 = 00:30Z
30 1,13 * * * | Sat 13:30+01 = 12:30Z, Sun 01:30+01 = 00:30Z, Sun 13:30+02 = 11:30Z, Mon 01:30+02 = 23:30Z
0,30 2 * * *  | Sun 03:00+02 = 01:00Z, Mon 02:00+02 = 00:00Z, Mon 02:30+02 = 00:30Z
*/15 * * * *  | Sun 01:30+01 = 00:30Z, Sun 01:45+01 = 00:45Z, Sun 03:00+02 = 01:00Z, Sun 03:15+02 = 01:15Z, Sun 03:30+02 = 01:30Z, Sun 03:45+02 = 01:45Z
0 0 * * *     | Sun 00:00+01 = 23:00Z, Mon 00:00+02 = 22:00Z

Europe/Berlin 2026-10-25T01:00Z: Sun 03:00 +02 is Sun 02:00 +01
30 2 * * *    | Sun 02:30+02 = 00:30Z, Mon 02:30+01 = 01:30Z
30 2,14 * * * | Sat 14:30+02 = 12:30Z, Sun 02:30+02 = 00:30Z, Sun 14:30+01 = 13:30Z, Mon 02:30+01 = 01:30Z
30 1,13 * * * | Sat 13:30+02 = 11:30Z, Sun 01:30+02 = 23:30Z, Sun 13:30+01 = 12:30Z, Mon 01:30+01 = 00:30Z
0,30 2 * * *  | Sun 02:00+02 = 00:00Z, Sun 02:30+02 = 00:30Z, Mon 02:00+01 = 01:00Z, Mon 02:30+01 = 01:30Z
*/15 * * * *  | Sun 02:30+02 = 00:30Z, Sun 02:45+02 = 00:45Z, Sun 02:00+01 = 01:00Z, Sun 02:15+01 = 01:15Z, Sun 02:30+01 = 01:30Z, Sun 02:45+01 = 01:45Z
0 0 * * *     | Sun 00:00+02 = 22:00Z, Mon 00:00+01 = 23:00Z

Australia/Lord_Howe 2026-10-03T15:30Z: Sun 02:00 +10:30 is Sun 02:30 +11
30 2 * * *    | Sun 02:30+11 = 15:30Z, Mon 02:30+11 = 15:30Z
30 2,14 * * * | Sat 14:30+10:30 = 04:00Z, Sun 02:30+11 = 15:30Z, Sun 14:30+11 = 03:30Z, Mon 02:30+11 = 15:30Z
30 1,13 * * * | Sat 13:30+10:30 = 03:00Z, Sun 01:30+10:30 = 15:00Z, Sun 13:30+11 = 02:30Z, Mon 01:30+11 = 14:30Z
0,30 2 * * *  | Sun 02:30+11 = 15:30Z, Mon 02:00+11 = 15:00Z, Mon 02:30+11 = 15:30Z
*/15 * * * *  | Sun 01:30+10:30 = 15:00Z, Sun 01:45+10:30 = 15:15Z, Sun 02:30+11 = 15:30Z, Sun 02:45+11 = 15:45Z, Sun 03:00+11 = 16:00Z, Sun 03:15+11 = 16:15Z
0 0 * * *     | Sun 00:00+10:30 = 13:30Z, Mon 00:00+11 = 13:00Z

Australia/Lord_Howe 2026-04-04T15:00Z: Sun 02:00 +11 is Sun 01:30 +10:30
30 2 * * *    | Sun 02:30+10:30 = 16:00Z, Mon 02:30+10:30 = 16:00Z
30 2,14 * * * | Sat 14:30+11 = 03:30Z, Sun 02:30+10:30 = 16:00Z, Sun 14:30+10:30 = 04:00Z, Mon 02:30+10:30 = 16:00Z
30 1,13 * * * | Sat 13:30+11 = 02:30Z, Sun 01:30+11 = 14:30Z, Sun 13:30+10:30 = 03:00Z, Mon 01:30+10:30 = 15:00Z
0,30 2 * * *  | Sun 02:00+10:30 = 15:30Z, Sun 02:30+10:30 = 16:00Z, Mon 02:00+10:30 = 15:30Z, Mon 02:30+10:30 = 16:00Z
*/15 * * * *  | Sun 01:30+11 = 14:30Z, Sun 01:45+11 = 14:45Z, Sun 01:30+10:30 = 15:00Z, Sun 01:45+10:30 = 15:15Z, Sun 02:00+10:30 = 15:30Z, Sun 02:15+10:30 = 15:45Z
0 0 * * *     | Sun 00:00+11 = 13:00Z, Mon 00:00+10:30 = 13:30Z

America/Santiago 2026-09-06T04:00Z: Sun 00:00 -04 is Sun 01:00 -03
30 2 * * *    | Sat 02:30-04 = 06:30Z, Sun 02:30-03 = 05:30Z, Mon 02:30-03 = 05:30Z
30 2,14 * * * | Sat 02:30-04 = 06:30Z, Sat 14:30-04 = 18:30Z, Sun 02:30-03 = 05:30Z, Sun 14:30-03 = 17:30Z, Mon 02:30-03 = 05:30Z
30 1,13 * * * | Sat 13:30-04 = 17:30Z, Sun 01:30-03 = 04:30Z, Sun 13:30-03 = 16:30Z, Mon 01:30-03 = 04:30Z
0,30 2 * * *  | Sat 02:30-04 = 06:30Z, Sun 02:00-03 = 05:00Z, Sun 02:30-03 = 05:30Z, Mon 02:00-03 = 05:00Z, Mon 02:30-03 = 05:30Z
*/15 * * * *  | Sat 23:30-04 = 03:30Z, Sat 23:45-04 = 03:45Z, Sun 01:00-03 = 04:00Z, Sun 01:15-03 = 04:15Z, Sun 01:30-03 = 04:30Z, Sun 01:45-03 = 04:45Z
0 0 * * *     | Sun 01:00-03 = 04:00Z, Mon 00:00-03 = 03:00Z

America/Santiago 2026-04-05T03:00Z: Sun 00:00 -03 is Sat 23:00 -04
30 2 * * *    | Sat 02:30-03 = 05:30Z, Sun 02:30-04 = 06:30Z
30 2,14 * * * | Sat 02:30-03 = 05:30Z, Sat 14:30-03 = 17:30Z, Sun 02:30-04 = 06:30Z, Sun 14:30-04 = 18:30Z
30 1,13 * * * | Sat 13:30-03 = 16:30Z, Sun 01:30-04 = 05:30Z, Sun 13:30-04 = 17:30Z
0,30 2 * * *  | Sat 02:30-03 = 05:30Z, Sun 02:00-04 = 06:00Z, Sun 02:30-04 = 06:30Z
*/15 * * * *  | Sat 23:30-03 = 02:30Z, Sat 23:45-03 = 02:45Z, Sat 23:00-04 = 03:00Z, Sat 23:15-04 = 03:15Z, Sat 23:30-04 = 03:30Z, Sat 23:45-04 = 03:45Z
0 0 * * *     | Sun 00:00-04 = 04:00Z, Mon 00:00-04 = 04:00Z

Pacific/Apia 2011-12-30T10:00Z: Fri 00:00 -10 is Sat 00:00 +14
30 2 * * *    | Thu 02:30-10 = 12:30Z, Sat 00:00+14 = 10:00Z, Sat 02:30+14 = 12:30Z
30 2,14 * * * | Thu 02:30-10 = 12:30Z, Thu 14:30-10 = 00:30Z, Sat 00:00+14 = 10:00Z, Sat 02:30+14 = 12:30Z, Sat 14:30+14 = 00:30Z
30 1,13 * * * | Thu 13:30-10 = 23:30Z, Sat 00:00+14 = 10:00Z, Sat 01:30+14 = 11:30Z, Sat 13:30+14 = 23:30Z, Sun 01:30+14 = 11:30Z
0,30 2 * * *  | Thu 02:30-10 = 12:30Z, Sat 00:00+14 = 10:00Z, Sat 02:00+14 = 12:00Z, Sat 02:30+14 = 12:30Z, Sun 02:00+14 = 12:00Z
*/15 * * * *  | Thu 23:30-10 = 09:30Z, Thu 23:45-10 = 09:45Z, Sat 00:00+14 = 10:00Z, Sat 00:15+14 = 10:15Z, Sat 00:30+14 = 10:30Z, Sat 00:45+14 = 10:45Z
0 0 * * *     | Sat 00:00+14 = 10:00Z, Sun 00:00+14 = 10:00Z

America/Sao_Paulo 2018-11-04T03:00Z: Sun 00:00 -03 is Sun 01:00 -02
30 2 * * *    | Sat 02:30-03 = 05:30Z, Sun 02:30-02 = 04:30Z, Mon 02:30-02 = 04:30Z
30 2,14 * * * | Sat 02:30-03 = 05:30Z, Sat 14:30-03 = 17:30Z, Sun 02:30-02 = 04:30Z, Sun 14:30-02 = 16:30Z, Mon 02:30-02 = 04:30Z
30 1,13 * * * | Sat 13:30-03 = 16:30Z, Sun 01:30-02 = 03:30Z, Sun 13:30-02 = 15:30Z, Mon 01:30-02 = 03:30Z
0,30 2 * * *  | Sat 02:30-03 = 05:30Z, Sun 02:00-02 = 04:00Z, Sun 02:30-02 = 04:30Z, Mon 02:00-02 = 04:00Z, Mon 02:30-02 = 04:30Z
*/15 * * * *  | Sat 23:30-03 = 02:30Z, Sat 23:45-03 = 02:45Z, Sun 01:00-02 = 03:00Z, Sun 01:15-02 = 03:15Z, Sun 01:30-02 = 03:30Z, Sun 01:45-02 = 03:45Z
0 0 * * *     | Sun 01:00-02 = 03:00Z, Mon 00:00-02 = 02:00Z

America/Sao_Paulo 2019-02-17T02:00Z: Sun 00:00 -02 is Sat 23:00 -03
30 2 * * *    | Sat 02:30-02 = 04:30Z, Sun 02:30-03 = 05:30Z
30 2,14 * * * | Sat 02:30-02 = 04:30Z, Sat 14:30-02 = 16:30Z, Sun 02:30-03 = 05:30Z, Sun 14:30-03 = 17:30Z
30 1,13 * * * | Sat 13:30-02 = 15:30Z, Sun 01:30-03 = 04:30Z, Sun 13:30-03 = 16:30Z
0,30 2 * * *  | Sat 02:30-02 = 04:30Z, Sun 02:00-03 = 05:00Z, Sun 02:30-03 = 05:30Z
*/15 * * * *  | Sat 23:30-02 = 01:30Z, Sat 23:45-02 = 01:45Z, Sat 23:00-03 = 02:00Z, Sat 23:15-03 = 02:15Z, Sat 23:30-03 = 02:30Z, Sat 23:45-03 = 02:45Z
0 0 * * *     | Sun 00:00-03 = 03:00Z, Mon 00:00-03 = 03:00Z

America/Sao_Paulo 2019-11-03T03:00Z: Sun 00:00 -03 is Sun 00:00 -03
30 2 * * *    | Sat 02:30-03 = 05:30Z, Sun 02:30-03 = 05:30Z
30 2,14 * * * | Sat 02:30-03 = 05:30Z, Sat 14:30-03 = 17:30Z, Sun 02:30-03 = 05:30Z, Sun 14:30-03 = 17:30Z
30 1,13 * * * | Sat 13:30-03 = 16:30Z, Sun 01:30-03 = 04:30Z, Sun 13:30-03 = 16:30Z, Mon 01:30-03 = 04:30Z
0,30 2 * * *  | Sat 02:30-03 = 05:30Z, Sun 02:00-03 = 05:00Z, Sun 02:30-03 = 05:30Z, Mon 02:00-03 = 05:00Z
*/15 * * * *  | Sat 23:30-03 = 02:30Z, Sat 23:45-03 = 02:45Z, Sun 00:00-03 = 03:00Z, Sun 00:15-03 = 03:15Z, Sun 00:30-03 = 03:30Z, Sun 00:45-03 = 03:45Z
0 0 * * *     | Sun 00:00-03 = 03:00Z, Mon 00:00-03 = 03:00Z

Asia/Amman 2022-10-27T22:00Z: Fri 01:00 +03 is Fri 01:00 +03
30 2 * * *    | Fri 02:30+03 = 23:30Z, Sat 02:30+03 = 23:30Z
30 2,14 * * * | Thu 14:30+03 = 11:30Z, Fri 02:30+03 = 23:30Z, Fri 14:30+03 = 11:30Z, Sat 02:30+03 = 23:30Z
30 1,13 * * * | Thu 13:30+03 = 10:30Z, Fri 01:30+03 = 22:30Z, Fri 13:30+03 = 10:30Z, Sat 01:30+03 = 22:30Z
0,30 2 * * *  | Fri 02:00+03 = 23:00Z, Fri 02:30+03 = 23:30Z, Sat 02:00+03 = 23:00Z, Sat 02:30+03 = 23:30Z
*/15 * * * *  | Fri 00:30+03 = 21:30Z, Fri 00:45+03 = 21:45Z, Fri 01:00+03 = 22:00Z, Fri 01:15+03 = 22:15Z, Fri 01:30+03 = 22:30Z, Fri 01:45+03 = 22:45Z
0 0 * * *     | Fri 00:00+03 = 21:00Z, Sat 00:00+03 = 21:00Z
";

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;

fn timestamp(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// The heading: of the same instant, the reading before the clock is set and the one after.
fn heading(name: &str, at: &str) -> String {
    let (zone, second) = (zone(name), seconds(at));
    let [before, after] = [second - 1, second].map(|second| zone.to_offset(timestamp(second)));
    let [shown, set] = [before, after].map(|offset| offset.to_datetime(timestamp(second)));
    format!(
        "{name} {at}: {} {before} is {} {after}",
        shown.strftime("%a %H:%M"),
        set.strftime("%a %H:%M")
    )
}

fn row(text: &str, zone: &TimeZone, at: i64) -> String {
    let cron = cron(text);
    let (before, after) = if text.contains('/') {
        (31 * MINUTE, 46 * MINUTE)
    } else {
        (22 * HOUR, 26 * HOUR)
    };
    let window = (at - before, at + after);
    let slots = slots(&cron, zone, window);
    assert_eq!(slots, reference::slots(&cron, zone, window, 60), "{text}");
    let runs: Vec<_> = slots
        .into_iter()
        .map(|slot| run(zone, timestamp(slot)))
        .collect();
    format!("{text:<13} | {}", runs.join(", "))
}

fn run(zone: &TimeZone, slot: Timestamp) -> String {
    let (shown, offset) = (zone.to_datetime(slot), zone.to_offset(slot));
    let utc = TimeZone::UTC.to_datetime(slot);
    format!(
        "{}{offset} = {}Z",
        shown.strftime("%a %H:%M"),
        utc.strftime("%H:%M")
    )
}

#[test]
fn when_clocks_are_set() {
    let mut place = None;
    let mut rows = 0;
    for line in TABLE.lines().filter(|line| !line.is_empty()) {
        if let Some((text, _)) = line.split_once('|') {
            let (zone, at) = place.as_ref().expect("a heading comes first");
            assert_eq!(row(text.trim_end(), zone, *at), line, "{place:?}");
            rows += 1;
        } else {
            let mut words = line.split([' ']);
            let (name, at) = (
                words.next().unwrap(),
                words.next().unwrap().trim_end_matches(':'),
            );
            assert_eq!(heading(name, at), line);
            place = Some((zone(name), seconds(at)));
        }
    }
    assert_eq!(rows, 13 * 6);
}
