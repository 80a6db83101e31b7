//! Calls of single statements in one database, from `pg_stat_statements`.

use sqlx::PgConnection;

use crate::postgres::Database;

/// Counts a database's statements from one moment on.
///
/// Statements that differ in their constants only are one. `BEGIN` and `COMMIT` count too. Since
/// each transaction has at least one statement, [`total`](Statements::total) is also an upper bound
/// for transactions, and one that needs no settling.
#[derive(Debug)]
pub struct Statements {
    beside: PgConnection,
    database: String,
}

impl Statements {
    /// Counts from now on. Earlier figures of this database are forgotten, also for other counters.
    ///
    /// # Panics
    ///
    /// If the server has no `pg_stat_statements`; the message says how it gets it.
    pub async fn from_now(database: &Database) -> Statements {
        let mut beside = database.connect_beside().await;
        if let Err(error) = install(&mut beside).await {
            panic!(
                "the test server does not count statements: {error}; it needs the module \
                 pg_stat_statements (on Debian a part of the server's package, elsewhere often \
                 called postgresql-contrib) and shared_preload_libraries = 'pg_stat_statements'"
            );
        }
        let mut statements = Statements {
            beside,
            database: database.name().to_owned(),
        };
        statements.reset().await;
        statements
    }

    /// Counts anew from now on.
    ///
    /// # Panics
    ///
    /// If the server does not answer.
    pub async fn reset(&mut self) {
        let statement = "select pg_stat_statements_reset(0, oid, 0)::text
                           from pg_database where datname = $1";
        let resetting = sqlx::query(statement)
            .bind(&self.database)
            .execute(&mut self.beside);
        resetting
            .await
            .expect("the server resets its counts of statements");
    }

    /// Calls of the statements whose text matches this regular expression, in any case.
    ///
    /// # Panics
    ///
    /// If the server does not answer, or the pattern is malformed.
    pub async fn calls(&mut self, pattern: &str) -> i64 {
        let statement = "select coalesce(sum(calls), 0)::bigint
                           from pg_stat_statements join pg_database on dbid = oid
                          where datname = $1 and query ~* $2";
        let counting = sqlx::query_scalar(statement)
            .bind(&self.database)
            .bind(pattern);
        counting
            .fetch_one(&mut self.beside)
            .await
            .expect("the server tells its statements")
    }

    /// Calls of all statements.
    ///
    /// # Panics
    ///
    /// If the server does not answer.
    pub async fn total(&mut self) -> i64 {
        self.calls("").await
    }

    /// Every statement with its calls, the most frequent first: for a test's message.
    ///
    /// # Panics
    ///
    /// If the server does not answer.
    pub async fn list(&mut self) -> Vec<(String, i64)> {
        let statement = "select query, sum(calls)::bigint
                           from pg_stat_statements join pg_database on dbid = oid
                          where datname = $1 group by query order by 2 desc, 1";
        let listing = sqlx::query_as(statement)
            .bind(&self.database)
            .fetch_all(&mut self.beside);
        listing.await.expect("the server tells its statements")
    }
}

/// Makes the view in the database we look from, and sees whether it counts.
async fn install(beside: &mut PgConnection) -> Result<(), sqlx::Error> {
    // Locked, since two that create it at once fail. The lock goes with the transaction.
    let statement = "do $$ begin
        perform pg_advisory_xact_lock(hashtext('tasklock_test_pg_stat_statements'));
        create extension if not exists pg_stat_statements;
    end $$";
    sqlx::raw_sql(statement).execute(&mut *beside).await?;
    sqlx::query("select 1 from pg_stat_statements limit 1")
        .execute(beside)
        .await
        .map(drop)
}
