//! Without a self the attribute cannot see that it is inside of an impl: the compiler says it.

use tasklock_runtime::{LeaseContext, locked_task};

struct Rates;

impl Rates {
    #[locked_task]
    async fn refresh(_lease: LeaseContext) {}
}

fn main() {}
