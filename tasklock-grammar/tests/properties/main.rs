//! What holds for every text and every timing, not only for those that somebody thought of.
//!
//! Each rule is stated a second time, as plainly as it can be, and the two must agree. A failure prints
//! the smallest input that it was found with: make it an example in the unit tests.

mod backoff;
mod cron;
mod duration;
mod name;
mod timing;

use proptest::test_runner::Config;

/// Enough to find what is there to find, in a second or so. Nothing is kept between runs: a failure is
/// mended and becomes an example, it is not a file.
fn cases(cases: u32) -> Config {
    Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    }
}
