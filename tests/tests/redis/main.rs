//! What is Redis's alone: servers that lose their data, or part of it; scripts that somebody flushes; keys in one database.
//!
//! What every store does the conformance suite shows. `None` where this run leaves servers out; the support crate says so.

mod backlog;
mod failover;
mod flush;
mod lost;
mod odd;
mod prefixes;
mod refused;
mod steps;
mod workers;
