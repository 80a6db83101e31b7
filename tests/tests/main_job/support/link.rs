//! A worker's way to its database, which can be cut.

use tasklock_test_support::proxy::{Mode, Proxy};

use super::Place;
use tasklock_tests::stage::database::Database;

/// To Postgres by way of a proxy of its own. Nothing can come between a process and its SQLite file,
/// but a write transaction of somebody else's keeps every worker from writing.
pub(crate) enum Link {
    Postgres { url: String, proxy: Proxy },
    Sqlite { url: String, lock: Database },
}

impl Link {
    pub(crate) async fn to(place: &Place) -> Self {
        let url = place.url();
        match place {
            Place::Sqlite(_) => Self::Sqlite {
                url,
                lock: place.connect().await,
            },
            Place::Postgres(_) => {
                let proxy = Proxy::before(&url).expect("a port is free");
                Self::Postgres {
                    url: proxy.url(&url),
                    proxy,
                }
            }
        }
    }

    pub(crate) fn url(&self) -> &str {
        match self {
            Self::Postgres { url, .. } | Self::Sqlite { url, .. } => url,
        }
    }

    /// Nothing passes, and connections stay open.
    pub(crate) async fn cut(&mut self) {
        match self {
            Self::Postgres { proxy, .. } => proxy.set(Mode::Hold),
            Self::Sqlite { lock, .. } => {
                let locked = lock.run("BEGIN IMMEDIATE").await;
                locked.expect("the write lock comes to everybody");
            }
        }
    }

    /// All that was held up passes.
    pub(crate) async fn mend(&mut self) {
        match self {
            Self::Postgres { proxy, .. } => proxy.set(Mode::Pass),
            Self::Sqlite { lock, .. } => {
                let unlocked = lock.run("ROLLBACK").await;
                unlocked.expect("the transaction can be rolled back");
            }
        }
    }
}
