//! The tables: created, upgraded, checked.

use sqlx::{Connection, Executor, SqliteConnection};

use super::SqliteStore;
use super::statements::BEGIN;
use crate::store::schema::{self, Dialect};

impl SqliteStore {
    pub(super) async fn migrate_once(&self) -> Result<Option<(i64, i64)>, sqlx::Error> {
        // Most starts find everything in place: they must not wait for somebody who writes.
        if let Some((version, oldest)) = self.version_once().await?
            && schema::plan(Dialect::Sqlite, &self.names, version)
                .statements
                .is_empty()
        {
            return Ok(Some((version, oldest)));
        }
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        run(&mut tx, schema::bootstrap(Dialect::Sqlite, &self.names)).await?;
        let mut found = self.version(&mut tx).await?;
        let applied = found.map_or(0, |(version, _)| version);
        for statement in schema::plan(Dialect::Sqlite, &self.names, applied).statements {
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
        let exists: Option<i64> =
            sqlx::query_scalar("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1")
                .bind(self.names.fill("{p}migration"))
                .fetch_optional(&mut *connection)
                .await?;
        let found = match exists {
            Some(_) => self.version(&mut connection).await?,
            None => None,
        };
        connection.done();
        Ok(found)
    }

    /// The newest migration that was applied, with the oldest version that can work with it.
    async fn version(
        &self,
        connection: &mut SqliteConnection,
    ) -> Result<Option<(i64, i64)>, sqlx::Error> {
        let sql = self
            .names
            .fill("SELECT max(version), max(oldest_compatible) FROM {p}migration");
        let (version, oldest): (Option<i64>, Option<i64>) =
            sqlx::query_as(sqlx::AssertSqlSafe(sql))
                .fetch_one(connection)
                .await?;
        Ok(version.zip(oldest))
    }
}

/// Runs a script of several statements.
async fn run(connection: &mut SqliteConnection, sql: String) -> Result<(), sqlx::Error> {
    connection
        .execute(sqlx::raw_sql(sqlx::AssertSqlSafe(sql)))
        .await
        .map(|_| ())
}
