//! A literal that a macro passes on.

use tasklock_runtime::{LeaseContext, locked_task};

macro_rules! task {
    ($name:ident, $ttl:literal) => {
        #[locked_task(ttl = $ttl)]
        async fn $name(_lease: LeaseContext) {}
    };
}

task!(refresh, "30sec");

fn main() {}
