//! The tables: created, upgraded, checked.
//!
//! A statement that creates a table commits, so a crash leaves some of them. Each is created only where it is missing, and the
//! migration is noted after the last of them: the next one goes on.

use sqlx::{Executor, MySqlConnection};

use super::MySqlStore;
use crate::store::schema;

/// One process at a time, in one database and for one prefix; a name has at most 64 characters.
const LOCK: &str = "SELECT GET_LOCK(SHA1(CONCAT('tasklock ', DATABASE(), ' {p}')), 60)";
const UNLOCK: &str = "SELECT RELEASE_LOCK(SHA1(CONCAT('tasklock ', DATABASE(), ' {p}')))";

impl MySqlStore {
    pub(super) async fn migrate_once(&self) -> Result<Option<(i64, i64)>, sqlx::Error> {
        if let Some((version, oldest)) = self.version_once().await?
            && self.plan(version).is_empty()
        {
            return Ok(Some((version, oldest)));
        }
        let mut connection = self.checkout().await?;
        // It goes with the connection, too.
        let locked: Option<i64> = sqlx::query_scalar(sqlx::AssertSqlSafe(self.names.fill(LOCK)))
            .fetch_one(&mut *connection)
            .await?;
        if locked != Some(1) {
            return Err(sqlx::Error::Protocol(
                "another process has been at the tables for a minute".into(),
            ));
        }
        run(
            &mut connection,
            schema::bootstrap(self.statements.server.dialect(), &self.names),
        )
        .await?;
        let mut found = self.version(&mut connection).await?;
        for statement in self.plan(found.map_or(0, |(version, _)| version)) {
            run(&mut connection, statement).await?;
            found = self.version(&mut connection).await?;
        }
        run(&mut connection, self.names.fill(UNLOCK)).await?;
        connection.done();
        Ok(found)
    }

    fn plan(&self, applied: i64) -> Vec<String> {
        schema::plan(self.statements.server.dialect(), &self.names, applied).statements
    }

    pub(super) async fn identity_once(&self) -> Result<String, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let (id, _): (String, u64) = sqlx::query_as(&self.statements.identity)
            .fetch_one(&mut *connection)
            .await?;
        connection.done();
        Ok(id)
    }

    pub(super) async fn version_once(&self) -> Result<Option<(i64, i64)>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let exists: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM information_schema.tables
             WHERE table_schema = DATABASE() AND table_name = ?",
        )
        .bind(self.names.fill("{p}migration"))
        .fetch_one(&mut *connection)
        .await?;
        let found = match exists {
            0 => None,
            _ => self.version(&mut connection).await?,
        };
        connection.done();
        Ok(found)
    }

    /// The newest migration that was applied, with the oldest version that can work with it.
    async fn version(
        &self,
        connection: &mut MySqlConnection,
    ) -> Result<Option<(i64, i64)>, sqlx::Error> {
        let sql = self
            .names
            .fill("SELECT MAX(version), MAX(oldest_compatible) FROM {p}migration");
        let (version, oldest): (Option<i64>, Option<i64>) =
            sqlx::query_as(sqlx::AssertSqlSafe(sql))
                .fetch_one(connection)
                .await?;
        Ok(version.zip(oldest))
    }
}

/// Runs a script of several statements.
async fn run(connection: &mut MySqlConnection, sql: String) -> Result<(), sqlx::Error> {
    connection
        .execute(sqlx::raw_sql(sqlx::AssertSqlSafe(sql)))
        .await
        .map(|_| ())
}
