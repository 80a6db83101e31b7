//! What a connection of a worker's own is told when it is opened, so that it does not depend on how the server is set up.

use sqlx::{Executor, MySqlConnection};

use super::Server;

/// After so many seconds without a statement MariaDB ends a transaction of a worker's own.
const IDLE_TRANSACTION: u32 = 2;

/// Pooled connections lie idle, for longer than some servers keep one; it is the usual value, in seconds.
const IDLE: u32 = 28_800;

/// What does not fit into a column is an error, and quotes are what they usually are.
const MODE: &str =
    "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,PIPES_AS_CONCAT";

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Calls,
    Heartbeat,
}

impl Use {
    /// For how many seconds a statement waits for a row: meanwhile it holds those that it has locked before, and the runs in these
    /// go on being ours for a ttl alone. After that the call is tried again. A renewal waits for nobody, as a rule.
    fn patience(self) -> u32 {
        match self {
            Self::Calls => 3,
            Self::Heartbeat => 1,
        }
    }
}

impl Server {
    /// Each statement outside a transaction commits by itself; a COMMIT begins no other transaction and ends no session; updates
    /// need no index that the server approves of; an answer has all its rows, however long it takes on MariaDB; transactions write; `IS NULL` means that, and duplicates are looked for. A worker
    /// that is stopped, or cut off, in the midst of a transaction holds its locks for no longer than MariaDB is told to wait for it.
    pub(super) async fn prepare(
        self,
        connection: &mut MySqlConnection,
        used: Use,
    ) -> Result<(), sqlx::Error> {
        let patience = used.patience();
        let mut sql = format!(
            "SET SESSION autocommit = 1, completion_type = 'NO_CHAIN', sql_safe_updates = 0, sql_mode = '{MODE}', \
             sql_select_limit = 18446744073709551615, sql_auto_is_null = 0, unique_checks = 1, innodb_lock_wait_timeout = {patience}, wait_timeout = GREATEST(@@SESSION.wait_timeout, {IDLE})"
        );
        if self == Self::MariaDb {
            sql +=
                &format!(", idle_transaction_timeout = {IDLE_TRANSACTION}, max_statement_time = 0");
        }
        sql += "; SET SESSION TRANSACTION READ WRITE";
        connection
            .execute(sqlx::raw_sql(sqlx::AssertSqlSafe(sql)))
            .await
            .map(|_| ())
    }
}
