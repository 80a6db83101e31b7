//! A state is shared between threads.

use tasklock_runtime::{LeaseContext, State, locked_task};

use std::rc::Rc;

#[locked_task]
async fn refresh(_lease: LeaseContext, _rates: State<Rc<u64>>) {}

fn main() {}
