//! A payload owns its data.

use tasklock_runtime::{LeaseContext, Payload, locked_task};

#[locked_task]
async fn refresh(_lease: LeaseContext, _text: Payload<String>) {}

#[locked_task]
async fn cow(_lease: LeaseContext, _text: Payload<std::borrow::Cow<'static, str>>) {}

fn main() {}
