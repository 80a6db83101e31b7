//! Each case on each database.

use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Cases that measure time have the machine to themselves.
static MACHINE: RwLock<()> = RwLock::const_new(());

/// Waits until no other case of this process runs.
pub async fn alone() -> RwLockWriteGuard<'static, ()> {
    MACHINE.write().await
}

/// Waits until no case of this process runs that has to be alone.
pub async fn beside() -> RwLockReadGuard<'static, ()> {
    MACHINE.read().await
}

/// `on_both! { alone: case, … }` makes a test of each case, an async function of a
/// [`Place`](crate::stage::Place), on SQLite and on Postgres; `beside` where others may run beside it.
#[macro_export]
macro_rules! on_both {
    ($($how:ident: $case:ident),+ $(,)?) => {
        mod on_sqlite {
            $(
                #[tokio::test]
                async fn $case() {
                    let _turn = $crate::stage::$how().await;
                    super::$case($crate::stage::Place::sqlite()).await;
                }
            )+
        }
        mod on_postgres {
            $(
                #[tokio::test]
                async fn $case() {
                    let _turn = $crate::stage::$how().await;
                    if let Some(place) = $crate::stage::Place::postgres().await {
                        super::$case(place).await;
                    }
                }
            )+
        }
    };
}
