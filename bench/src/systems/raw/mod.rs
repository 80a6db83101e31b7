//! The least that the same guarantees take: rows that are claimed with an owner, a fence and an expiry, and ended by
//! owner and fence, in batches. It is no queue: nobody renews these leases, or takes them over.

pub mod leases;
mod mariadb;
mod postgres;
mod redis;
mod sqlite;

pub use self::mariadb::MariaDb;
pub use self::postgres::Postgres;
pub use self::redis::Redis;
pub use self::sqlite::Sqlite;

/// Jobs of one statement that enqueues.
const MANY: usize = 1_000;
const OWNER: &str = "owner";
