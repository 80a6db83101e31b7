//! What a PostgreSQL database did, counted by the server itself.
//!
//! Two sources, with different manners (seen on PostgreSQL 15):
//!
//! - [`Statements`] reads `pg_stat_statements`: exact as soon as a statement has ended, also for
//!   sessions that are still open. It does not see autovacuum, nor what a session does before its
//!   first statement.
//! - [`transactions`] reads `pg_stat_database`: each session keeps its count to itself and hands it
//!   over at most once a second, when a statement ends; what is left after the last one, only
//!   after ten seconds of idling; everything, when it ends. So a figure read while sessions are
//!   open is too low by what they did lately; [`settled_transactions`] waits until there are none.
//!   Each new session counts one transaction for itself, preparing a statement outside a transaction
//!   counts another (sqlx does so at a statement's first use on a connection), and autovacuum counts a few a minute in a
//!   database that is written to (`alter system set autovacuum = off` on a
//!   [`Server`](crate::postgres::Server) of one's own).
//!
//! They look from another database of the server, so that looking is not counted.

mod statements;
mod transactions;

pub use statements::Statements;
pub use transactions::{sessions, settled_transactions, transactions};
