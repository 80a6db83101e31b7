//! What one `next_slot` costs. The figures are printed; only one that is out of all proportion fails.

use std::hint::black_box;
use std::time::Instant;

use super::super::next_slot;
use super::{MICROS, cron, seconds, slots, zone};

const CALLS: i64 = 2_000;

/// Far above what any of them takes without optimisation, on a machine that does other things.
const ABSURD: u128 = 1_000_000;

#[test]
fn nanoseconds_of_a_call() {
    let start = seconds("2026-01-01T00:00Z");
    for text in [
        "* * * * *",
        "*/15 * * * *",
        "30 2 * * *",
        "0 9 * * MON-FRI",
        "*/10 * * * * *",
        "0 0 LW * *",
        "0 0 1 1 *",
        "0 0 29 2 *",
        "0 0 * 2 MON#5",
        "* * * 2 MON#5",
    ] {
        let cron = cron(text);
        for name in [
            "UTC",
            "Asia/Kolkata",
            "America/New_York",
            "Australia/Lord_Howe",
        ] {
            let zone = zone(name);
            let began = Instant::now();
            for call in 0..CALLS {
                // Over eleven years, at times of day that differ.
                let after = (start + call * 173_000) * MICROS;
                black_box(next_slot(black_box(&cron), &zone, after));
            }
            let each = began.elapsed().as_nanos() / u128::from(CALLS.unsigned_abs());
            println!("{text:<18} {name:<20} {each:>6} ns");
            assert!(each < ABSURD, "{text} in {name}: {each} ns");
        }
    }
}

/// 29 February on a Monday: mostly every 28 years, and every 40 where a century has no leap year.
#[test]
fn the_sparsest_dates() {
    let years = (seconds("2000-01-01T00:00Z"), seconds("2120-01-01T00:00Z"));
    let slots = slots(&cron("0 0 * 2 MON#5"), &zone("Europe/Berlin"), years);
    let mondays = ["2016", "2044", "2072", "2112"];
    assert_eq!(
        slots,
        mondays.map(|year| seconds(&format!("{year}-02-29T00:00+01")))
    );
}
