//! A task has no self.

use tasklock_runtime::{LeaseContext, locked_task};

struct Rates;

impl Rates {
    #[locked_task]
    async fn refresh(&self, _lease: LeaseContext) {}
}

fn main() {}
