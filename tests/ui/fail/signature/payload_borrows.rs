//! A payload owns its data.

use tasklock_runtime::{LeaseContext, Payload, locked_task};

#[locked_task]
async fn refresh(_lease: LeaseContext, _text: Payload<&str>) {}

#[locked_task]
async fn cow(_lease: LeaseContext, _text: Payload<std::borrow::Cow<'_, str>>) {}

fn main() {}
