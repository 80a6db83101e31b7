//! A handle names its task where a type is wanted.

#![deny(warnings)]

use tasklock_runtime::{LeaseContext, locked_task};

use tasklock_runtime::TaskSpec;

#[locked_task(name = "billing.refresh")]
async fn refresh(_lease: LeaseContext) {}

fn main() {
    fn name<T: TaskSpec>() -> &'static str {
        T::NAME
    }
    assert_eq!(name::<refresh>(), "billing.refresh");
}
