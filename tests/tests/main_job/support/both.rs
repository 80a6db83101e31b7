//! Each case on each database.

use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Cases that measure time have the machine to themselves.
static MACHINE: RwLock<()> = RwLock::const_new(());

pub(crate) async fn alone() -> RwLockWriteGuard<'static, ()> {
    MACHINE.write().await
}

pub(crate) async fn beside() -> RwLockReadGuard<'static, ()> {
    MACHINE.read().await
}

/// `on_both! { alone: case, … }` makes a test of each case, an async function of a
/// [`Place`](super::Place), on SQLite and on Postgres; `beside` where others may run beside it.
macro_rules! on_both {
    ($($how:ident: $case:ident),+ $(,)?) => {
        mod on_sqlite {
            $(
                #[tokio::test]
                async fn $case() {
                    let _turn = $crate::support::$how().await;
                    super::$case($crate::support::Place::sqlite()).await;
                }
            )+
        }
        mod on_postgres {
            $(
                #[tokio::test]
                async fn $case() {
                    let _turn = $crate::support::$how().await;
                    if let Some(place) = $crate::support::Place::postgres().await {
                        super::$case(place).await;
                    }
                }
            )+
        }
    };
}
