//! The tables: created, upgraded, checked.

use sqlx::{Connection, Executor, PgConnection};

use super::PgStore;
use super::statements::BEGIN;
use crate::store::schema::{self, Dialect};

impl PgStore {
    pub(super) async fn migrate_once(&self) -> Result<Option<(i64, i64)>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        // One process at a time; the number is arbitrary, and this library's own.
        sqlx::query("SELECT pg_advisory_xact_lock(7308895142330199907)")
            .execute(&mut *tx)
            .await?;
        if let Some(schema) = self.names.schema() {
            // Asked first: CREATE SCHEMA wants a privilege even where the schema exists.
            let exists: bool =
                sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)")
                    .bind(schema)
                    .fetch_one(&mut *tx)
                    .await?;
            if !exists {
                run(&mut tx, format!("CREATE SCHEMA \"{schema}\"")).await?;
            }
        }
        let mut found = self.version(&mut tx).await?;
        let applied = found.map_or(0, |(version, _)| version);
        let plan = schema::plan(Dialect::Postgres, &self.names, applied);
        if found.is_none() {
            run(&mut tx, schema::bootstrap(Dialect::Postgres, &self.names)).await?;
        }
        for statement in plan.statements {
            run(&mut tx, statement).await?;
            found = self.version(&mut tx).await?;
        }
        tx.commit().await?;
        connection.done();
        Ok(found)
    }

    pub(super) async fn identity_once(&self) -> Result<String, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let id = sqlx::query_scalar(&self.statements.identity)
            .fetch_one(&mut *connection)
            .await?;
        connection.done();
        Ok(id)
    }

    pub(super) async fn version_once(&self) -> Result<Option<(i64, i64)>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let found = self.version(&mut connection).await?;
        connection.done();
        Ok(found)
    }

    /// The newest migration that was applied, with the oldest version that can work with it.
    async fn version(
        &self,
        connection: &mut PgConnection,
    ) -> Result<Option<(i64, i64)>, sqlx::Error> {
        let table = self.names.fill("{s}{p}migration");
        let exists: bool = sqlx::query_scalar("SELECT to_regclass($1) IS NOT NULL")
            .bind(&table)
            .fetch_one(&mut *connection)
            .await?;
        if !exists {
            return Ok(None);
        }
        let (version, oldest): (Option<i64>, Option<i64>) = sqlx::query_as(sqlx::AssertSqlSafe(
            format!("SELECT max(version), max(oldest_compatible) FROM {table}"),
        ))
        .fetch_one(&mut *connection)
        .await?;
        Ok(version.zip(oldest))
    }
}

/// Runs a script of several statements.
async fn run(connection: &mut PgConnection, sql: String) -> Result<(), sqlx::Error> {
    connection
        .execute(sqlx::raw_sql(sqlx::AssertSqlSafe(sql)))
        .await
        .map(|_| ())
}
