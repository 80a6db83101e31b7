//! Named leases in a table of their own, one statement for each operation; on Redis, one script.

mod mariadb;
mod postgres;
mod redis;

use anyhow::Result;

pub use self::mariadb::MariaDb;
pub use self::postgres::Postgres;
pub use self::redis::Redis;

/// Leases of one caller.
pub const CYCLES: u32 = 300;

pub trait Leases: Clone + Send + Sync + 'static {
    async fn install(url: &str, callers: u32) -> Result<Self>;

    /// One caller acquires its name and gives it back, one time after the other.
    fn cycles(&self, caller: u32) -> impl Future<Output = Result<()>> + Send;
}
