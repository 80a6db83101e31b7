//! A server that belongs to one scenario, whatever its kind.

use tasklock_test_support::redis::Redis;
use tasklock_test_support::server::{Server, Stop};

/// A server that the scenario may do with as it likes.
#[derive(Clone, Copy)]
pub(crate) enum AnyServer<'a> {
    Postgres(&'a Server<sqlx::Postgres>),
    MySql(&'a Server<sqlx::MySql>),
    Redis(&'a Server<Redis>),
}

macro_rules! on_any {
    ($server:expr, $verb:ident $(, $how:expr)?) => {
        match $server {
            Self::Redis(server) => server.$verb($($how)?).await,
            Self::Postgres(server) => server.$verb($($how)?).await,
            Self::MySql(server) => server.$verb($($how)?).await,
        }
    };
}

impl AnyServer<'_> {
    pub(crate) async fn stop(self, how: Stop) {
        on_any!(self, stop, how);
    }

    pub(crate) async fn start_again(self) {
        on_any!(self, start_again);
    }

    pub(crate) async fn restart(self, how: Stop) {
        on_any!(self, restart, how);
    }

    pub(crate) async fn pause(self) {
        on_any!(self, pause);
    }

    pub(crate) async fn resume(self) {
        on_any!(self, resume);
    }
}
