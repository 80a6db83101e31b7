//! What the test suites share.

pub mod program;
pub mod torment;
