//! Where this library's own tests make it fail.
//!
//! Each step after which a crash or a pause leaves something else behind is marked by `at`. A test
//! program installs `Faults`, and kills or stops its process there, or makes the library behave as if
//! it had a known mistake, to see that the tests notice. Without the feature `__faults` nothing of this
//! is compiled: every function here is empty.

#[cfg(feature = "__faults")]
pub use injected::{Faults, install};
#[cfg(feature = "__faults")]
pub(crate) use injected::{at, has, statement};

#[cfg(feature = "__faults")]
mod injected {
    use std::sync::OnceLock;

    /// What goes wrong.
    pub trait Faults: Sync {
        /// A step is reached. What blocks here, blocks the step.
        fn at(&self, step: &'static str);

        /// Whether the library has this mistake.
        fn has(&self, mistake: &'static str) -> bool;

        /// A statement before its first use, and what is used in its place.
        fn statement(&self, sql: String) -> String;
    }

    static FAULTS: OnceLock<&'static dyn Faults> = OnceLock::new();

    /// From now on, for the whole process; the first call counts.
    pub fn install(faults: &'static dyn Faults) {
        let _ = FAULTS.set(faults);
    }

    pub(crate) fn at(step: &'static str) {
        if let Some(faults) = FAULTS.get() {
            faults.at(step);
        }
    }

    pub(crate) fn has(mistake: &'static str) -> bool {
        FAULTS.get().is_some_and(|faults| faults.has(mistake))
    }

    pub(crate) fn statement(sql: String) -> String {
        match FAULTS.get() {
            Some(faults) => faults.statement(sql),
            None => sql,
        }
    }
}

#[cfg(not(feature = "__faults"))]
#[inline(always)]
pub(crate) fn at(_step: &'static str) {}

#[cfg(not(feature = "__faults"))]
#[inline(always)]
pub(crate) fn has(_mistake: &'static str) -> bool {
    false
}

#[cfg(all(not(feature = "__faults"), database))]
#[inline(always)]
pub(crate) fn statement(sql: String) -> String {
    sql
}
