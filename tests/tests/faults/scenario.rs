//! A scenario as a test on each store.

use tokio::sync::{Semaphore, SemaphorePermit};

/// Fleets that are tormented at once: more would starve each other, on a machine with two processors.
static MACHINE: Semaphore = Semaphore::const_new(3);

pub(crate) async fn turn() -> SemaphorePermit<'static> {
    MACHINE.acquire().await.expect("it is never closed")
}

/// `scenarios! { on sqlite, postgres: name => canary, … }` makes a test of each async function of an
/// [`Arena`](super::arena::Arena), on each of these places.
macro_rules! scenarios {
    ($($scenario:ident on $($place:ident)+ => $canary:ident;)+) => {
        $(mod $scenario {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $place() {
                let _turn = $crate::scenario::turn().await;
                if let Some(place) = $crate::place::Place::$place().await {
                    let mut arena = $crate::arena::Arena::new(place);
                    super::$scenario(&mut arena).await;
                    let canary = $crate::arena::Canary::$canary;
                    arena.settle(stringify!($scenario), canary).await;
                }
            })+
        })+
    };
}
