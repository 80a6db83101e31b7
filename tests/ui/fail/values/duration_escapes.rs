//! Where the literal is not the text itself, the caret stands under the whole of it.

use tasklock_runtime::{LeaseContext, locked_task};

#[locked_task(ttl = "\x35M", every = r#"5 s"#)]
async fn refresh(_lease: LeaseContext) {}

fn main() {}
