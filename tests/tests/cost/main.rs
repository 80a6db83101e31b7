//! What a job costs, in numbers that a busy machine does not change: statements, rows that are read, allocations.
//!
//! They guard what makes the runtime fast: that there is no round trip for each job, no search past rows that do not
//! matter, and no allocation that nobody needs. `cargo test -p tasklock-tests --test cost -- --nocapture` prints them.

mod allocations;
mod fleet;
mod statements;
