//! What the test suites share.

pub mod program;
