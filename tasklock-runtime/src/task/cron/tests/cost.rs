//! What one `next_slot` costs. The figures are printed; only one that is out of all proportion fails.

use std::hint::black_box;
use std::time::Instant;

use super::super::next_slot;
use super::{MICROS, cron, seconds, zone};

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
        "0 0 */28 2 */7,1",
        "* * */28 2 MON",
    ] {
        let Ok(cron) = tasklock_grammar::parse_cron(text) else {
            continue;
        };
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

/// Preparing costs nothing, and neither does asking far from everything.
#[test]
fn the_sparsest_dates() {
    let cron = cron("0 0 */28 2 MON");
    let zone = zone("Europe/Berlin");
    let mut after = seconds("1890-01-01T00:00Z") * MICROS;
    for _ in 0..10 {
        after = next_slot(&cron, &zone, after).expect("it comes");
    }
}
