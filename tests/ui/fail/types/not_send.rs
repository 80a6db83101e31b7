//! A task moves between threads: the arrow points at the function, the notes at the value.

use tasklock_runtime::{LeaseContext, locked_task};

use std::rc::Rc;

#[locked_task]
async fn refresh(_lease: LeaseContext) {
    let rates = Rc::new(5);
    std::future::ready(()).await;
    println!("{rates}");
}

fn main() {}
