//! Writes into a foreign database: one that does not hold the leases.
//!
//! There no guard can lock the job's row, so the fence does the work. The foreign database keeps, for
//! each lease's name, the greatest fence that it was shown, and each transaction shows its own first.
//! The row of that name is the mutex: whoever shows a fence **writes** the row, an equal fence too, and
//! so holds it until the transaction ends. Three things follow:
//!
//! - a smaller fence than the registered one is refused, at every isolation level: READ COMMITTED
//!   reads the row anew once it has its lock, a snapshot that is older than the row fails;
//! - a greater fence registers only after the transactions of smaller ones have ended, and those
//!   that come later are refused;
//! - whoever has registered sees in the same transaction whatever smaller fences committed. Were an
//!   equal fence to lock the row without writing it, a REPEATABLE READ transaction that waited for it
//!   would go on in a snapshot from before the commit it waited for: seen.
//!
//! A first registration is the same race on the key: the second insert waits for the first, then finds
//! a row (and compares, or fails in its snapshot) or none.
//!
//! Each crash: the registration is part of the transaction, and goes or stays with its effects. A
//! registration that stays without effects refuses what is older, which is what it is for.

use std::fmt;
use std::future::Future;

use tasklock_grammar::check_name;

/// A transaction that [`fence_table`] can fence: `sqlx::Transaction` of Postgres, of SQLite, and of MariaDB and MySQL.
///
/// Sealed: it is implemented for the databases of the stores.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be fenced",
    label = "not a transaction of Postgres, SQLite or MySql",
    note = "pass `&mut tx`, a `sqlx::Transaction` of Postgres, SQLite or MySql, with that feature of \
            tasklock-runtime enabled"
)]
pub trait FencedTransaction: sealed::Fenced {}

impl<T: sealed::Fenced> FencedTransaction for T {}

pub(crate) mod sealed {
    use super::{FenceError, Future};

    /// The part of [`FencedTransaction`](super::FencedTransaction) that only stores see.
    pub trait Fenced: Send {
        /// Registers the fence and takes the row, or says why not. After `Stale` the transaction
        /// cannot be committed any more, as far as the database can be made to see to that.
        fn register(
            &mut self,
            name: &str,
            fence: i64,
        ) -> impl Future<Output = Result<(), FenceError>> + Send;
    }
}

/// Fences a transaction in a **foreign** database, one that does not hold the leases: registers
/// `fence` for the lease `name` in the table `tasklock_fence` there, and refuses it if a greater one is
/// registered. In the leases' own database use [`commit`](super::LeaseContext::commit), which promises
/// more and needs no table.
///
/// Call it as the **first** statement of each transaction that writes under the lease, on the outermost
/// transaction: in a savepoint that is rolled back the registration goes with it. Create the table once
/// with [`fence_table_sql`](crate::fence_table_sql).
///
/// ```no_run
/// # #[cfg(feature = "postgres")]
/// # mod example {
/// use sqlx::PgPool;
/// use tasklock_runtime::{LeaseContext, TaskResult, fence_table};
///
/// async fn close_the_books(lease: &LeaseContext, ledger: &PgPool) -> TaskResult {
///     // At the start of the run, and with nothing else: from here on no older holder commits there.
///     let mut tx = ledger.begin().await?;
///     fence_table(&mut tx, lease.fence_name(), lease.fence()).await?;
///     tx.commit().await?;
///
///     let mut tx = ledger.begin().await?;
///     fence_table(&mut tx, lease.fence_name(), lease.fence()).await?; // before anything is read there
///     sqlx::query("UPDATE account SET closed = true WHERE due < now()")
///         .execute(&mut *tx)
///         .await?;
///     lease.check()?; // costs nothing, and keeps out a holder that can know by itself
///     tx.commit().await?;
///     Ok(())
/// }
/// # }
/// ```
///
/// # What is promised
///
/// Once a transaction that registered a fence has committed, no transaction in which a smaller one of
/// that name passed commits in that database any more; and a transaction whose fence passed sees
/// everything that smaller ones have committed. This holds under any pause, of processes or networks, at READ COMMITTED, REPEATABLE
/// READ and SERIALIZABLE on Postgres and MariaDB, and for immediate and deferred transactions on SQLite (begin with
/// `BEGIN IMMEDIATE`: deferred ones that have read before get [`Retry`](FenceError::Retry) more often). It is written for MySQL 8,
/// too, and was not tried there.
///
/// An equal fence passes: a holder may run many such transactions, one after the other. Transactions of
/// one name wait for each other from this call to their end; at Postgres's snapshot levels those that waited get
/// [`Retry`](FenceError::Retry). On MariaDB and MySQL the registration sees the newest row, whatever the snapshot: a
/// transaction that has read before it passes, and what it has read may be old. There the order of the two is all that
/// counts: register first, and do not begin `WITH CONSISTENT SNAPSHOT`. Other names are not held up but on SQLite, where
/// every writer is.
///
/// # What is not
///
/// - **Before** a new holder has registered, an older one still commits, for the foreign database has
///   heard of nobody else. So a new holder registers first, and reads after that: what it read
///   before may have changed since. A holder that never comes to this database keeps nobody out of it.
/// - A call that is dropped before it answers, by a time-out around it, has fenced nothing: give the
///   transaction up.
/// - A transaction that does not call this is not fenced, nor one that calls it with a name of its own:
///   a name that nobody else uses fences nobody, so hand over `lease.fence_name()`.
/// - A holder that is paused inside its transaction keeps the row, and newer holders waiting. Bound
///   that: `idle_in_transaction_session_timeout` on a Postgres server, `idle_transaction_timeout` on MariaDB, ends
///   such a transaction, and `lock_timeout`, `innodb_lock_wait_timeout` or SQLite's busy timeout ends the wait, with
///   [`Retry`](FenceError::Retry).
/// - It lasts as the database's commits last. A failover to a replica that lags, or a restored backup,
///   forgets fences that were registered since.
/// - Fences of one name must come from one store: one database, table prefix and schema. Two stores with
///   a task of one name need two names here; and where the leases' tables are made anew, fences begin at 1 again and are all refused:
///   delete the name's row while no holder runs, and at no other time. (On Redis they go on rising, with the server's clock.)
///
/// On Postgres the table is found by the connection's `search_path`, on MariaDB and MySQL in its current database: every
/// holder needs the same one.
///
/// # Errors
///
/// See [`FenceError`]. After **any** error roll back, which dropping the transaction does, and do not
/// commit: it is not fenced. What the databases do about a caller that goes on: on Postgres a transaction
/// is aborted by every error but `Name` and `Fence`, which do not reach the database; its later
/// statements fail, and its COMMIT, though sqlx reports no error, rolls back. SQLite aborts none; after
/// `Stale` its COMMIT fails, unless `PRAGMA foreign_keys` was turned off (sqlx has it on), and after
/// any other error nothing holds it up. On MariaDB and MySQL this call rolls the transaction back after every error but `Name` and
/// `Fence`, and leaves one that is read-only: later writes fail, and its COMMIT has nothing to commit.
///
/// # Where it comes from
///
/// These are the fencing tokens of Martin Kleppmann, [How to do distributed locking][kleppmann] (2016),
/// and the sequencers of Mike Burrows, [The Chubby lock service for loosely-coupled distributed
/// systems][chubby] (OSDI 2006, section 2.4): the resource itself refuses who comes late.
///
/// [kleppmann]: https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html
/// [chubby]: https://www.usenix.org/conference/osdi-06/chubby-lock-service-loosely-coupled-distributed-systems
pub async fn fence_table(
    tx: &mut impl FencedTransaction,
    name: &str,
    fence: i64,
) -> Result<(), FenceError> {
    if let Err(error) = check_name(name) {
        return Err(FenceError::Name {
            name: name.to_owned(),
            problem: error.to_string(),
        });
    }
    if fence < 1 {
        return Err(FenceError::Fence {
            name: name.to_owned(),
            fence,
        });
    }
    tx.register(name, fence).await
}

/// Why a fence was not registered. Roll the transaction back, whichever it is.
#[derive(Debug)]
#[non_exhaustive]
pub enum FenceError {
    /// A greater fence is registered: somebody else has held the lease since. Stop.
    #[non_exhaustive]
    Stale {
        /// The lease.
        name: String,
        /// The fence that was shown.
        fence: i64,
        /// The one that is registered.
        registered: i64,
    },
    /// The database asks to run the transaction again (a serialization failure, a deadlock, a lock that
    /// could not be had). Begin it anew, unless [`check`](super::LeaseContext::check) fails by now.
    Retry(String),
    /// The database has no table `tasklock_fence` that this connection finds, or another one.
    #[non_exhaustive]
    NoTable {
        /// What the database said.
        found: String,
        /// What creates the table.
        sql: &'static str,
    },
    /// The name is none that a lease has: it is empty, longer than 128 bytes, has control characters, or
    /// blanks at its ends.
    #[non_exhaustive]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it, and what to write.
        problem: String,
    },
    /// The fence is less than 1: no store that fences gives such a one.
    #[non_exhaustive]
    Fence {
        /// The lease.
        name: String,
        /// The fence.
        fence: i64,
    },
    /// Any other error of the database.
    Db(Box<dyn std::error::Error + Send + Sync>),
}

impl fmt::Display for FenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stale {
                name,
                fence,
                registered,
            } => write!(
                f,
                "fence {fence} of the lease {name:?} is stale, {registered} is registered in this \
                 database: somebody else has held the lease since; roll back and stop"
            ),
            Self::Retry(why) => write!(
                f,
                "the fence was not registered, roll back and run the transaction again: {why}"
            ),
            Self::NoTable { found, sql } => write!(
                f,
                "this database has no table tasklock_fence, or one with other columns ({found}): roll back, \
                 drop or rename what has this name and is not ours, and once apply the SQL of \
                 `tasklock_runtime::fence_table_sql` there:\n{sql}"
            ),
            Self::Name { name, problem } => {
                write!(f, "{name:?} cannot be the name of a lease: {problem}")
            }
            Self::Fence { name, fence } => write!(
                f,
                "{fence} is no fence of the lease {name:?}, they begin at 1: hand over \
                 `lease.fence()`; a store that cannot fence gives none"
            ),
            Self::Db(error) => write!(f, "the fence was not registered, roll back: {error}"),
        }
    }
}

impl std::error::Error for FenceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Db(error) => Some(&**error),
            _ => None,
        }
    }
}
