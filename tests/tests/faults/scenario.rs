//! A scenario as a test, on all its stores at once: most of its time it waits.

use std::sync::{Condvar, Mutex, PoisonError};

/// Fleets that are tormented at once: more would starve each other, on a machine with two processors.
const AT_ONCE: usize = 4;
static RUNNING: Mutex<usize> = Mutex::new(0);
static ENDED: Condvar = Condvar::new();

/// Runs one store's part in a runtime of its own, when its turn has come.
pub(crate) fn run(part: impl Future<Output = ()>) {
    let lock = || RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut running = lock();
    while *running >= AT_ONCE {
        running = ENDED.wait(running).unwrap_or_else(PoisonError::into_inner);
    }
    *running += 1;
    drop(running);
    let _turn = Turn;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(8)
        .enable_all()
        .build();
    runtime.expect("threads can be started").block_on(part);
}

struct Turn;

impl Drop for Turn {
    fn drop(&mut self) {
        *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        ENDED.notify_all();
    }
}

/// `scenarios! { name on sqlite, postgres => canary; … }` makes a test of each async function of an
/// [`Arena`](super::arena::Arena), on each of these places.
macro_rules! scenarios {
    ($($scenario:ident on $($place:ident)+ => $canary:ident;)+) => {
        mod scenarios {
            $(#[test]
            fn $scenario() {
                std::thread::scope(|scope| {
                    $(scope.spawn(|| $crate::scenario::run(async {
                        if let Some(place) = $crate::place::Place::$place().await {
                            let mut arena = $crate::arena::Arena::new(place);
                            super::$scenario(&mut arena).await;
                            let canary = $crate::arena::Canary::$canary;
                            let _ = arena.settle(stringify!($scenario), canary).await;
                        }
                    }));)+
                });
            })+
        }
    };
}
