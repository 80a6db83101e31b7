//! `mod sync; pub use sync::sync;` needs another handle.

#![deny(warnings)]

use tasklock_runtime::{LeaseContext, locked_task};

mod sync {
    use super::{LeaseContext, locked_task};

    #[locked_task(handle = SyncTask)]
    pub(crate) async fn sync(_lease: LeaseContext) {}
}

#[allow(unused_imports)]
pub(crate) use sync::sync;

fn main() {
    assert_eq!(sync::SyncTask::NAME, "sync");
}
