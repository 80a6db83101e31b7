//! Timings: accepted exactly if the documented inequalities hold, and then an outage is survived.

use std::time::Duration;

use proptest::prelude::*;
use tasklock_grammar::{MAX_DURATION, Timing, TimingOption, parse_duration};

/// In numbers that nothing overflows.
fn plainly(timing: &Timing) -> bool {
    let [ttl, heartbeat, margin] =
        [timing.ttl, timing.heartbeat, timing.margin].map(|part| part.as_nanos());
    ttl >= 500_000_000
        && heartbeat > 0
        && margin > 0
        && 2 * heartbeat + margin <= ttl
        && margin + heartbeat + ttl / 8 < ttl
}

/// From nothing to the longest that the type holds, the reasonable ones often.
fn length() -> impl Strategy<Value = Duration> {
    prop_oneof![
        4 => (0_u64..100_000).prop_map(Duration::from_millis),
        2 => (1_u64..=10_000_000_000).prop_map(Duration::from_nanos),
        1 => (any::<u64>(), 0_u32..1_000_000_000).prop_map(|(s, n)| Duration::new(s, n)),
        1 => prop::sample::select(vec![
            Duration::ZERO,
            Duration::from_nanos(1),
            Timing::MIN_TTL,
            Timing::MIN_TTL - Duration::from_nanos(1),
            MAX_DURATION,
            Duration::MAX,
        ]),
    ]
}

/// A part of the ttl, a few nanoseconds more or less: where the inequalities turn.
fn around(ttl: Duration) -> impl Strategy<Value = Duration> {
    let part = (0_u32..=48, 1_u32..=48, -2_i8..=2).prop_map(move |(of, whole, more)| {
        let part = (ttl / whole).saturating_mul(of.min(whole));
        let step = Duration::from_nanos(more.unsigned_abs().into());
        if more < 0 {
            part.saturating_sub(step)
        } else {
            part.saturating_add(step)
        }
    });
    prop_oneof![3 => part, 1 => length()]
}

/// Given options; what is left out has its default.
fn options() -> impl Strategy<Value = [Option<Duration>; 3]> {
    length().prop_flat_map(|ttl| {
        let part = || prop::option::weighted(0.8, around(ttl));
        (prop::option::weighted(0.9, Just(ttl)), part(), part())
            .prop_map(|(ttl, heartbeat, margin)| [ttl, heartbeat, margin])
    })
}

proptest! {
    #![proptest_config(super::cases(2_000))]

    #[test]
    fn a_timing_is_accepted_exactly_if_the_inequalities_hold([ttl, heartbeat, margin] in options()) {
        let timing = Timing::with_defaults(ttl, heartbeat, margin);
        let checked = timing.check();
        prop_assert_eq!(checked.is_ok(), plainly(&timing), "{:?}: {:?}", timing, checked);
        if checked.is_ok() {
            prop_assert!(!timing.outage().is_zero());
            let spent = timing.margin + timing.heartbeat + timing.call() + timing.outage();
            prop_assert_eq!(spent, timing.ttl);
        }
    }

    #[test]
    fn a_refusal_names_an_option_that_was_given_and_its_advice_helps(
        [ttl, heartbeat, margin] in options(),
    ) {
        let timing = Timing::with_defaults(ttl, heartbeat, margin);
        let Err(error) = timing.check() else {
            return Ok(());
        };
        let given = match error.option() {
            TimingOption::Ttl => ttl,
            TimingOption::Heartbeat => heartbeat,
            TimingOption::Margin => margin,
        };
        prop_assert!(given.is_some(), "{error}");
        prop_assert!(error.message().contains(&error.option().to_string()), "{error}");

        let Some((advice, _)) = error.message().split_once("\" or ") else {
            return Ok(());
        };
        let advised = advice.rsplit_once('"').and_then(|(_, text)| parse_duration(text).ok());
        // Options that come from texts are never longer.
        if timing.ttl <= MAX_DURATION {
            prop_assert!(advised.is_some(), "{error}");
        }
        let Some(advised) = advised else {
            return Ok(());
        };
        let mut mended = timing;
        match error.option() {
            TimingOption::Ttl => mended = Timing::with_defaults(Some(advised), None, None),
            TimingOption::Heartbeat => mended.heartbeat = advised,
            TimingOption::Margin => mended.margin = advised,
        }
        prop_assert_eq!(mended.check(), Ok(()), "{}", error);
    }
}
