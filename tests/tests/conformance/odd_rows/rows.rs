//! What may stand in a row that this version did not write.

use crate::world::Sql;

/// A row like any other, but for this.
#[derive(Debug, Clone)]
pub(crate) struct Odd {
    /// What is set in a row that is due.
    pub(crate) set: String,
    /// A statement that comes after; `{job}` is the row's id.
    pub(crate) also: Option<&'static str>,
    /// Whether a claim takes it, or leaves it alone.
    pub(crate) taken: bool,
}

const HELD: &str = "state = 'running', lock_owner = 'somebody'";

fn odd(set: impl Into<String>, taken: bool) -> Odd {
    Odd {
        set: set.into(),
        also: None,
        taken,
    }
}

/// A lease that has expired, with this besides.
fn expired(set: &str, taken: bool) -> Odd {
    let held = if set.contains("lock_owner") {
        "state = 'running'"
    } else {
        HELD
    };
    odd(format!("{held}, lock_until = {{past}}, {set}"), taken)
}

/// Everything that is odd, with this database's instants filled in.
pub(crate) fn all(sql: &Sql) -> Vec<Odd> {
    let (own, past, future) = match sql {
        Sql::Sqlite(_) => (sqlite(), "1", "9000000000000000"),
        Sql::MySql(_) => (mysql(), "1", "9000000000000000"),
        Sql::Postgres(_) => (postgres(), "'1970-01-02'", "'2200-01-01'"),
    };
    let fill = |odd: Odd| Odd {
        set: odd.set.replace("{past}", past).replace("{future}", future),
        ..odd
    };
    common().into_iter().chain(own).map(fill).collect()
}

fn common() -> Vec<Odd> {
    let long = format!("lock_owner = '{}'", "é".repeat(5_000));
    let mut all = vec![
        // Numbers at their ends.
        odd("attempt = 2147483647", true),
        odd("attempt = -2147483648", true),
        odd("attempt = -5, crashes = -5", true),
        expired("attempt = 2147483647, crashes = 2147483647", true),
        expired("attempt = -2147483648, crashes = -2147483648", true),
        odd("fence = 9223372036854775806", true),
        odd("fence = 9223372036854775807", false),
        odd("fence = -9223372036854775808", true),
        expired("fence = 9223372036854775806", true),
        expired("fence = 9223372036854775807", false),
        expired("fence = -1", true),
        // Owners and expiries that do not go together.
        expired("lock_owner = NULL", true),
        expired("lock_owner = ''", true),
        expired(&long, true),
        expired(
            "lock_owner = '\u{202e}👩‍👧\u{301}\u{feff}', lock_worker = '\u{1}'",
            true,
        ),
        expired("due_at = NULL", true),
        odd(format!("{HELD}, lock_until = NULL"), false),
        odd(
            "state = 'running', lock_owner = NULL, lock_until = NULL",
            false,
        ),
        odd(
            "state = 'running', lock_owner = NULL, lock_until = {future}",
            false,
        ),
        odd(
            "lock_owner = 'left', lock_worker = 'over', lock_until = {future}",
            true,
        ),
        odd("lock_until = {past}", true),
        odd("due_at = NULL", false),
        // What only jobs that were enqueued have, and places that are kept.
        odd("priority = 32767", true),
        odd("priority = -32768, refusals = -2147483648", true),
        odd("payload = '', refusals = 2147483647", true),
        odd("payload = 'no JSON \u{1}\u{202e}👩‍👧'", true),
        odd("hold_until = {future}, prune_at = {past}", true),
        odd("hold_until = {past}, prune_at = {future}", true),
        odd("cancelled_at = {past}, finished_at = NULL", true),
        odd("state = 'paused', prune_at = {past}", false),
        expired("cancelled_at = {future}, prune_at = {past}", true),
        expired("hold_until = {future}, priority = 32767", true),
        expired("claimed_at = {future}, refusals = 2147483647", true),
        // Words of another version.
        odd("state = 'paused'", false),
        odd("state = 'paused', due_at = {future}", false),
        odd("state = '', lock_owner = 'x', lock_until = {past}", false),
        odd("schedule = 'at full moon', last_outcome = 'exploded'", true),
        odd(
            "schedule = NULL, last_outcome = '', last_error = '\u{202e}\u{1}'",
            true,
        ),
    ];
    // Whatever an owner's token is taken for elsewhere.
    all.extend(
        ["null", "[]", "'' OR 1 = 1 --", "$1"]
            .map(|owner| expired(&format!("lock_owner = '{owner}'"), true)),
    );
    all
}

fn postgres() -> Vec<Odd> {
    let mut all = Vec::new();
    for (at, past) in [
        ("'infinity'", false),
        ("'-infinity'", true),
        ("'294276-12-31 23:59:59.999999+00'", false),
        ("'4713-01-01 00:00:00+00 BC'", true),
        ("'4714-11-24 00:00:00+00 BC'", true),
        ("'10000-01-01 00:00:00+00'", false),
        ("'0001-01-01 00:00:00+00'", true),
    ] {
        all.push(odd(format!("due_at = {at}"), past));
        all.push(expired(&format!("due_at = {at}"), true));
        all.push(odd(format!("{HELD}, lock_until = {at}"), past));
        // Its rank is further out still.
        for priority in [32_767, -32_768] {
            all.push(odd(format!("due_at = {at}, priority = {priority}"), past));
        }
        let others = format!(
            "hold_until = {at}, cancelled_at = {at}, prune_at = {at}, claimed_at = {at},
             created_at = {at}, finished_at = {at}"
        );
        all.push(odd(&others, true));
        all.push(expired(&others, true));
    }
    // Side rows of fences that were never given out, and of no job at all.
    let beats = [
        ("fence = 3", "4, 'infinity'", true),
        ("fence = 3", "5, '-infinity'", true),
        ("fence = 3", "9223372036854775807, 'infinity'", true),
        ("fence = 3", "3, 'infinity'", true),
        ("fence = 3", "3, '-infinity'", true),
        ("fence = 3", "-9223372036854775808, 'infinity'", true),
    ];
    for (set, beat, taken) in beats {
        let also: &'static str = Box::leak(insert_beat(beat).into_boxed_str());
        all.push(Odd {
            also: Some(also),
            ..odd(set, taken)
        });
        // The held row's own renewal is the one that counts.
        let renewed = beat == "3, 'infinity'";
        all.push(Odd {
            also: Some(also),
            ..expired(set, taken && !renewed)
        });
        let endless = format!("{HELD}, lock_until = NULL, {set}");
        all.push(Odd {
            also: Some(also),
            ..odd(endless, false)
        });
    }
    all.push(Odd {
        also: Some("INSERT INTO tasklock_heartbeat VALUES (-{job}, 1, '-infinity')"),
        ..odd("attempt = 0", true)
    });
    all
}

fn insert_beat(values: &str) -> String {
    format!("INSERT INTO tasklock_heartbeat VALUES ({{job}}, {values})")
}

/// SQLite holds no column to its type.
/// Numbers at their ends, which are no instants.
fn mysql() -> Vec<Odd> {
    let mut all = Vec::new();
    for (at, past) in [
        ("9223372036854775807", false),
        ("-9223372036854775808", true),
    ] {
        all.push(odd(format!("due_at = {at}"), past));
        all.push(expired(&format!("due_at = {at}"), true));
        all.push(odd(format!("{HELD}, lock_until = {at}"), past));
        all.push(odd(format!("hold_until = {at}, prune_at = {at}"), true));
        all.push(odd(format!("due_at = {at}, priority = 32767"), past));
        let columns = ["cancelled_at", "claimed_at", "finished_at", "created_at"];
        let set = columns.map(|column| format!("{column} = {at}")).join(", ");
        all.push(odd(&set, true));
        all.push(expired(&set, true));
    }
    all
}

fn sqlite() -> Vec<Odd> {
    let mut all = Vec::new();
    for (at, past) in [
        ("9223372036854775807", false),
        ("-9223372036854775808", true),
        ("9e999", false),
        ("-9e999", true),
        ("1.5", true),
        ("1e300", false),
        ("'soon'", false),
        ("''", false),
        ("x'00ff'", false),
        ("CAST(x'ff' AS TEXT)", false),
    ] {
        all.push(odd(format!("due_at = {at}"), past));
        all.push(expired(&format!("due_at = {at}"), true));
        all.push(odd(format!("{HELD}, lock_until = {at}"), past));
    }
    for count in [
        "9223372036854775807",
        "-9223372036854775808",
        "'many'",
        "1.5",
        "-9e999",
        "x'ff'",
    ] {
        all.push(odd(format!("attempt = {count}"), true));
        all.push(expired(
            &format!("attempt = {count}, crashes = {count}"),
            true,
        ));
    }
    for odd_one in ["9e999", "-9223372036854775808", "'soon'", "x'ff'", "1.5"] {
        let columns = [
            "cancelled_at",
            "claimed_at",
            "finished_at",
            "created_at",
            "refusals",
        ];
        let set = columns
            .map(|column| format!("{column} = {odd_one}"))
            .join(", ");
        let set = format!("{set}, payload = {odd_one}");
        all.push(odd(&set, true));
        all.push(expired(&set, true));
    }
    for at in ["9223372036854775807", "-9223372036854775808"] {
        all.push(odd(format!("hold_until = {at}, prune_at = {at}"), true));
        all.push(odd(
            format!("due_at = {at}, priority = 32767"),
            at.starts_with('-'),
        ));
    }
    for fence in ["'first'", "1.5", "9e999", "-1e300", "x'01'", "''"] {
        all.push(odd(format!("fence = {fence}"), false));
        all.push(expired(&format!("fence = {fence}"), false));
    }
    for text in [
        "x'ff00'",
        "CAST(x'ff' AS TEXT)",
        "5",
        "1e300",
        "'a' || char(0) || 'b'",
    ] {
        all.push(expired(
            &format!("lock_owner = {text}, lock_worker = {text}"),
            true,
        ));
        all.push(odd(
            format!("schedule = {text}, last_outcome = {text}, last_error = {text}"),
            true,
        ));
        all.push(odd(format!("state = {text}"), false));
    }
    all.push(odd("task = CAST(x'ff' AS TEXT)", false));
    all.push(odd("task = x'ff'", false));
    all
}
