//! A few names that jobs take as their resource, and code by hand as well.

/// So many.
pub const NAMES: u64 = 3;
const KIND: &str = "shared ";

/// One of them.
pub fn name(number: u64) -> String {
    format!("{KIND}{}", number % NAMES)
}

/// Which one it is.
pub fn number(name: &str) -> Option<u64> {
    name.strip_prefix(KIND)?.parse().ok()
}
