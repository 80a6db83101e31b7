//! Figures, printed where the test harness does not swallow them.

use std::io::Write;
use std::time::Duration;

/// One line on standard error, whatever the harness captures: the suite, and a figure.
pub fn print(suite: &str, line: &str) {
    let _ = std::io::stderr().write_all(format!("{suite}: {line}\n").as_bytes());
}

/// Least, middle and most, in milliseconds.
pub fn spread(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |index: usize| times.get(index).map_or(0, Duration::as_millis);
    format!(
        "min {} ms, median {} ms, max {} ms",
        at(0),
        at(times.len() / 2),
        at(times.len().saturating_sub(1))
    )
}
