//! Servers stop, restart and pause; what belongs to one test is fresh and goes away.

mod database;
mod mysql;
mod redis;
mod server;
mod subject;

use std::time::Duration;

/// Long enough for any answer, short enough to wait for none.
const NO_ANSWER: Duration = Duration::from_millis(500);

/// `on_each! { [postgres: Postgres, …] case, … }` makes a test of each case, an async function that
/// is generic in the kind of server, on each of these kinds.
macro_rules! on_each {
    ([$module:ident: $kind:ty $(, $modules:ident: $kinds:ty)*] $($case:ident),+ $(,)?) => {
        mod $module {
            $(
                #[tokio::test]
                async fn $case() {
                    super::$case::<$kind>().await;
                }
            )+
        }
        on_each! { [$($modules: $kinds),*] $($case),+ }
    };
    ([] $($case:ident),+) => {};
}
pub(crate) use on_each;
