//! How ttl, heartbeat and margin fit together.

use std::time::Duration;

use tasklock_grammar::{Timing, TimingOption, parse_duration};

fn duration(text: &str) -> Option<Duration> {
    (!text.is_empty()).then(|| parse_duration(text).unwrap())
}

fn timing(ttl: &str, heartbeat: &str, margin: &str) -> Timing {
    Timing::with_defaults(duration(ttl), duration(heartbeat), duration(margin))
}

#[test]
fn fitting() {
    for (ttl, heartbeat, margin) in [
        ("", "", ""),
        ("30s", "10s", ""),
        ("500ms", "", ""),
        ("1s", "", ""),
        ("2s", "", ""),
        ("3650d", "", ""),
        // On the edge: 2 × 12 + 6 and 2 × 10 + 10.
        ("30s", "12s", ""),
        ("30s", "", "10s"),
        ("1h", "1ms", "1ms"),
    ] {
        assert_eq!(
            timing(ttl, heartbeat, margin).check(),
            Ok(()),
            "{ttl} {heartbeat} {margin}"
        );
    }
}

#[test]
fn out_of_proportion() {
    for (ttl, heartbeat, margin, option, message) in [
        (
            "499ms",
            "",
            "",
            TimingOption::Ttl,
            "the ttl of 499ms is too short: write \"500ms\" or more",
        ),
        (
            "",
            "20s",
            "",
            TimingOption::Heartbeat,
            "the heartbeat of 20s is too long for the ttl of 30s: two heartbeats of 20s (one may \
             be missed) and the margin of 6s must fit in it; write \"12s\" or less, or give a longer ttl",
        ),
        (
            "5s",
            "10s",
            "",
            TimingOption::Heartbeat,
            "the heartbeat of 10s is too long for the ttl of 5s: two heartbeats of 10s (one may be \
             missed) and the margin of 1s must fit in it; write \"2s\" or less, or give a longer ttl",
        ),
        (
            "",
            "",
            "15s",
            TimingOption::Margin,
            "the margin of 15s is too long for the ttl of 30s: two heartbeats of 10s (one may be \
             missed) and the margin of 15s must fit in it; write \"10s\" or less, or give a longer ttl",
        ),
        (
            "",
            "1s",
            "26s",
            TimingOption::Margin,
            "the margin of 26s is too long for the ttl of 30s: the margin of 26s, a heartbeat of \
             1s and one call of 3s750ms must leave room in it for an outage; write \"25s249ms\" or \
             less, or give a longer ttl",
        ),
        (
            "1s",
            "1s",
            "1s",
            TimingOption::Margin,
            "the margin of 1s is too long for the ttl of 1s: two heartbeats of 1s (one may be \
             missed) and the margin of 1s must fit in it; leave `heartbeat` and `margin` out, or \
             give a longer ttl",
        ),
    ] {
        let error = timing(ttl, heartbeat, margin).check().unwrap_err();
        assert_eq!(error.message(), message);
        assert_eq!(error.option(), option);
    }
}

#[test]
fn zero_is_refused_where_the_grammar_did_not() {
    let heartbeat = Timing {
        heartbeat: Duration::ZERO,
        ..Timing::default()
    };
    assert_eq!(
        heartbeat.check().unwrap_err().to_string(),
        "the heartbeat is longer than zero: write one such as \"10s\", or leave it out",
    );
    let margin = Timing {
        margin: Duration::ZERO,
        ..Timing::default()
    };
    assert_eq!(
        margin.check().unwrap_err().to_string(),
        "the margin is longer than zero: write one such as \"6s\", or leave it out",
    );
}

/// Over a grid: what is accepted has room for a missed beat and an outage, an option left out is
/// never blamed, and following the advice is enough.
#[test]
fn every_advice_works() {
    let texts = [
        "", "1ms", "50ms", "100ms", "333ms", "1s", "5s", "12s", "14s", "27s", "1m", "1h",
    ];
    for ttl in texts {
        for heartbeat in texts {
            for margin in texts {
                check_one(ttl, heartbeat, margin);
            }
        }
    }
}

fn check_one(ttl: &str, heartbeat: &str, margin: &str) {
    let given = timing(ttl, heartbeat, margin);
    let Err(error) = given.check() else {
        assert!(2 * given.heartbeat + given.margin <= given.ttl);
        assert!(given.outage() > Duration::ZERO);
        return;
    };
    let advice = error
        .message()
        .split('"')
        .nth(1)
        .and_then(|text| parse_duration(text).ok());
    let (blamed, advised) = match error.option() {
        TimingOption::Ttl => return assert!(!ttl.is_empty()),
        TimingOption::Heartbeat => (
            heartbeat,
            Timing {
                heartbeat: advice.unwrap_or(given.ttl / 3),
                ..given
            },
        ),
        TimingOption::Margin => (
            margin,
            Timing {
                margin: advice.unwrap_or(given.ttl / 5),
                ..given
            },
        ),
    };
    assert!(!blamed.is_empty(), "{error}");
    if advice.is_some() {
        assert_eq!(advised.check(), Ok(()), "{error}");
    } else {
        assert!(
            error
                .message()
                .contains("leave `heartbeat` and `margin` out"),
            "{error}"
        );
    }
}

#[test]
fn absurd_values_do_not_overflow() {
    let timing = Timing {
        ttl: Duration::MAX,
        heartbeat: Duration::MAX,
        margin: Duration::MAX,
    };
    assert!(timing.check().is_err());
    assert_eq!(timing.outage(), Duration::ZERO);

    // Twice this heartbeat is more than the type holds.
    let timing = Timing {
        heartbeat: Duration::MAX / 2 + Duration::from_secs(1),
        margin: Duration::from_secs(1),
        ..timing
    };
    assert!(timing.check().is_err());
}
