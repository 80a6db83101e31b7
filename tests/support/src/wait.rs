//! Waiting for a condition where the system gives no signal.

use std::panic::Location;
use std::time::{Duration, Instant};

/// How often a condition is looked at.
const INTERVAL: Duration = Duration::from_millis(5);

/// Waits until `condition` holds. It blocks the thread.
///
/// # Panics
///
/// If it does not hold within `bound`.
#[track_caller]
pub fn eventually(bound: Duration, mut condition: impl FnMut() -> bool) {
    eventually_some(bound, || condition().then_some(()));
}

/// Waits until `look` finds something, and returns that. It blocks the thread.
///
/// # Panics
///
/// If it finds nothing within `bound`.
#[track_caller]
pub fn eventually_some<T>(bound: Duration, look: impl FnMut() -> Option<T>) -> T {
    match try_eventually(bound, look) {
        Some(found) => found,
        None => panic!("{}", failure(bound, Location::caller())),
    }
}

/// Like [`eventually_some`], without blocking the thread. Not for tests with a paused clock.
///
/// # Panics
///
/// If it finds nothing within `bound`. A look that takes longer than what is left of the bound is
/// dropped.
#[track_caller]
pub fn eventually_async<T, L>(bound: Duration, look: L) -> impl Future<Output = T>
where
    L: AsyncFnMut() -> Option<T>,
{
    let caller = Location::caller();
    async move {
        match try_eventually_async(bound, look).await {
            Some(found) => found,
            None => panic!("{}", failure(bound, caller)),
        }
    }
}

/// [`eventually_async`] for those who have more to say about a failure, or none: `None` after `bound`.
pub async fn try_eventually_async<T>(
    bound: Duration,
    mut look: impl AsyncFnMut() -> Option<T>,
) -> Option<T> {
    let polling = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(INTERVAL).await;
        }
    };
    tokio::time::timeout(bound, polling).await.ok()
}

/// [`eventually_some`] for those who have more to say about a failure, or none: `None` after `bound`.
pub fn try_eventually<T>(bound: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + bound;
    loop {
        // The time is read first: a condition that came true in time is never missed.
        let late = Instant::now() >= end;
        if let Some(found) = look() {
            return Some(found);
        }
        if late {
            return None;
        }
        std::thread::sleep(INTERVAL);
    }
}

fn failure(bound: Duration, caller: &Location<'_>) -> String {
    format!("the condition waited for at {caller} did not come true within {bound:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_looked_at_until_it_holds() {
        let mut looks = 0;
        let found = eventually_some(Duration::from_secs(10), || {
            looks += 1;
            (looks == 3).then_some(looks)
        });
        assert_eq!(found, 3);
    }

    #[test]
    fn a_condition_is_looked_at_once_even_without_time() {
        eventually(Duration::ZERO, || true);
    }

    #[test]
    #[should_panic(expected = "wait.rs")]
    fn a_failure_names_the_waiting_line() {
        eventually(Duration::from_millis(10), || false);
    }

    #[tokio::test]
    async fn an_async_condition_may_borrow() {
        let mut looks = 0;
        let found = eventually_async(Duration::from_secs(10), async || {
            looks += 1;
            (looks == 2).then_some("found")
        });
        assert_eq!(found.await, "found");
        assert_eq!(looks, 2);
    }

    #[tokio::test]
    #[should_panic(expected = "wait.rs")]
    async fn an_async_look_that_hangs_is_bounded() {
        let never = async || std::future::pending::<Option<()>>().await;
        eventually_async(Duration::from_millis(10), never).await;
    }
}
