//! How long a handler may be silent.

use std::time::Duration;

use tasklock_grammar::{Timing, display_duration, parse_duration};

fn told(ttl: &str, heartbeat: &str, stall: &str, timeout: &str) -> Option<String> {
    let parse = |text: &str| parse_duration(text).ok();
    let timing = Timing::with_defaults(parse(ttl), parse(heartbeat), None);
    let stall = parse(stall).unwrap_or_else(|| timing.default_stall());
    let checked = timing.check_stall(stall, parse(timeout));
    checked.err().map(|error| error.to_string())
}

#[test]
fn fitting() {
    for (ttl, heartbeat, stall, timeout) in [
        ("", "", "", ""),
        ("500ms", "", "", ""),
        ("", "", "10s", ""),
        ("", "1ms", "1ms", ""),
        ("", "", "30s", "30001ms"),
        ("", "", "3650d", ""),
    ] {
        assert_eq!(told(ttl, heartbeat, stall, timeout), None, "{stall}");
    }
}

#[test]
fn not_shorter_than_a_heartbeat() {
    for (ttl, heartbeat, stall, least) in [
        ("", "", "9999ms", "10s"),
        ("3s", "", "1ms", "1s"),
        ("", "2s", "1s", "2s"),
    ] {
        let told = told(ttl, heartbeat, stall, "").unwrap_or_default();
        assert!(
            told.contains(&format!("one heartbeat of {least}")),
            "{told}"
        );
        assert!(
            told.contains(&format!("write \"{least}\" or more")),
            "{told}"
        );
    }
}

#[test]
fn before_the_timeout() {
    for timeout in ["20s", "15s"] {
        let told = told("", "", "20s", timeout).unwrap_or_default();
        assert!(told.contains(&format!("less than \"{timeout}\"")), "{told}");
    }
}

/// Each message shows numbers as they are written.
#[test]
fn absurd_values_are_shown() {
    let timing = Timing {
        ttl: Duration::MAX,
        heartbeat: Duration::MAX,
        margin: Duration::MAX,
    };
    let told = timing.check_stall(Duration::ZERO, None);
    let told = told
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default();
    assert!(told.contains(&display_duration(Duration::MAX)), "{told}");
}
