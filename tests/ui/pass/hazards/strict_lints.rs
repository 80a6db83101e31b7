//! The expansion breaks no lint that a crate may deny.

#![deny(warnings, missing_docs, unused, unused_qualifications, unsafe_code, nonstandard_style, let_underscore)]

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(every = "5s", on_lost = "exit", timeout = "1m")]
async fn private(_lease: LeaseContext) {}

pub(crate) mod tasks {
    use super::{LeaseContext, locked_task};

    /// Documented.
    #[locked_task]
    pub async fn public(_lease: LeaseContext) {}

    #[locked_task]
    pub(crate) async fn restricted(_lease: LeaseContext) {}
}

fn main() {
    let _ = tasks::public::NAME;
    let _ = tasks::restricted::trigger;
}
