//! The task's name is that of the function, without the `r#`.

#![deny(warnings)]

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task]
async fn r#type(_lease: LeaseContext) {}

fn main() {
    assert_eq!(r#type::NAME, "type");
}
