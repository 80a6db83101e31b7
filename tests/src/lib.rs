//! What the test suites share.

pub mod program;
pub mod stage;
pub mod torment;
