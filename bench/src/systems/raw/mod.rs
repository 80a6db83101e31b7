//! The least that the same guarantees take: rows that are claimed with an owner, a fence and an expiry, and ended by
//! owner and fence, in batches. It is no queue: nobody renews these leases, or takes them over.

mod leases;
mod postgres;
mod sqlite;

pub use leases::{CYCLES, Leases};
pub use postgres::Postgres;
pub use sqlite::Sqlite;

/// Jobs of one statement that enqueues.
const MANY: usize = 1_000;
const OWNER: &str = "owner";
