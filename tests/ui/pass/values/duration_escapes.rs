//! Where the literal is not the text itself, the caret stands under the whole of it.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(ttl = "\x35m", every = r#"5s"#)]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
