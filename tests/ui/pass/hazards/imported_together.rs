//! One `use` brings the function and its handle.

#![deny(warnings)]

use tasklock_runtime::{LeaseContext, locked_task};

mod jobs {
    use super::{LeaseContext, locked_task};

    #[locked_task]
    pub(crate) async fn refresh(_lease: LeaseContext) {}
}

use jobs::refresh;

fn main() {
    assert_eq!(refresh::NAME, "refresh");
    let _ = refresh;
}
