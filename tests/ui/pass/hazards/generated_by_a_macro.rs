//! A macro_rules that writes tasks.

#![deny(warnings)]

use tasklock_runtime::{LeaseContext, locked_task};

macro_rules! tasks {
    ($($name:ident every $every:literal: $lease:ty => $returns:ty),*) => {
        $(
            #[locked_task(every = $every)]
            async fn $name(_lease: $lease) -> $returns {}
        )*
    };
}

tasks!(first every "1s": LeaseContext => (), second every "2s": tasklock_runtime::LeaseContext => ());

fn main() {
    assert_eq!([first::NAME, second::NAME], ["first", "second"]);
}
