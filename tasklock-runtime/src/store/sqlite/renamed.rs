//! Tasks that have had other names: one try of each step.

use sqlx::{Connection, SqliteConnection};

use super::statements::BEGIN;
use super::{SqliteStore, batch};
use crate::store::Declaration;
use crate::store::declaring::{ALIAS_AGAIN, ALIAS_LASTS, RENAMED, RENAMINGS};
use crate::task::micros;

impl SqliteStore {
    /// Whether the name is a former one, under a new name that somebody serves. Where nobody does any more, or the new name is a
    /// former one of the task itself, the row goes by this name again, and so do the jobs.
    pub(super) async fn is_served_elsewhere(
        &self,
        tx: &mut SqliteConnection,
        declared: &Declaration,
    ) -> Result<bool, sqlx::Error> {
        let task = &declared.task;
        let Some((newer, served)) = self.aliased(tx, task).await? else {
            return Ok(false);
        };
        if served && !declared.aliases.contains(&newer) {
            return Ok(true);
        }
        self.rename(tx, &newer, task).await?;
        self.rename_jobs(tx, &newer, task).await?;
        sqlx::query(&self.statements.unalias)
            .bind(task)
            .execute(tx)
            .await?;
        Ok(false)
    }

    async fn aliased(
        &self,
        connection: &mut SqliteConnection,
        task: &str,
    ) -> Result<Option<(String, bool)>, sqlx::Error> {
        sqlx::query_as(&self.statements.aliased)
            .bind(task)
            .fetch_optional(connection)
            .await
    }

    /// This name is a former one from now on.
    pub(super) async fn alias(
        &self,
        tx: &mut SqliteConnection,
        former: &str,
        name: &str,
    ) -> Result<(), sqlx::Error> {
        for statement in [&self.statements.realias, &self.statements.alias] {
            sqlx::query(statement)
                .bind(former)
                .bind(name)
                .bind(micros(ALIAS_LASTS))
                .execute(&mut *tx)
                .await?;
        }
        self.rename(tx, former, name).await
    }

    /// The row itself, whoever runs it; or, where there is one of the present name, away with it. What was paused is.
    async fn rename(
        &self,
        tx: &mut SqliteConnection,
        from: &str,
        to: &str,
    ) -> Result<(), sqlx::Error> {
        let statements = &self.statements;
        for statement in [
            &statements.rename_pause,
            &statements.drop_pause,
            &statements.rename,
            &statements.drop_former,
        ] {
            sqlx::query(statement)
                .bind(from)
                .bind(to)
                .execute(&mut *tx)
                .await?;
        }
        Ok(())
    }

    /// Jobs that wait and run, up to a number; answers whether there may be more.
    async fn rename_jobs(
        &self,
        tx: &mut SqliteConnection,
        former: &str,
        name: &str,
    ) -> Result<bool, sqlx::Error> {
        let renamed = sqlx::query(&self.statements.rename_jobs)
            .bind(former)
            .bind(name)
            .bind(RENAMED)
            .execute(tx)
            .await?
            .rows_affected();
        Ok(renamed == RENAMED.unsigned_abs())
    }

    pub(super) async fn tend_once(
        &self,
        declarations: &[Declaration],
    ) -> Result<Vec<String>, sqlx::Error> {
        let mut renamed = Vec::new();
        let mut connection = self.checkout().await?;
        for declared in declarations.iter().filter(|d| !d.aliases.is_empty()) {
            let newer = self.aliased(&mut connection, &declared.task).await?;
            if newer.is_some_and(|(newer, served)| served && !declared.aliases.contains(&newer)) {
                continue;
            }
            renamed.push(declared);
            let lapsing: bool = sqlx::query_scalar(&self.statements.lapsing)
                .bind(batch(&declared.aliases, |former| former))
                .bind(micros(ALIAS_AGAIN))
                .bind(&declared.task)
                .fetch_one(&mut *connection)
                .await?;
            if lapsing {
                let mut tx = connection.begin_with(BEGIN).await?;
                for former in &declared.aliases {
                    self.alias(&mut tx, former, &declared.task).await?;
                }
                tx.commit().await?;
            }
        }
        let standing: Vec<&Declaration> = declarations.iter().filter(|d| d.standing).collect();
        let missing = sqlx::query_scalar(&self.statements.undeclared)
            .bind(batch(&standing, |declared| &declared.task))
            .fetch_all(&mut *connection)
            .await?;
        connection.done();
        for declared in renamed {
            for former in &declared.aliases {
                self.rename_all(former, &declared.task).await?;
            }
        }
        Ok(missing)
    }

    /// The connection is the process's only one, and the write lock the file's: both are given back between two batches.
    async fn rename_all(&self, former: &str, name: &str) -> Result<(), sqlx::Error> {
        for _ in 0..RENAMINGS {
            let mut connection = self.checkout().await?;
            let has_former: bool = sqlx::query_scalar(&self.statements.has_former)
                .bind(former)
                .bind(name)
                .fetch_one(&mut *connection)
                .await?;
            let mut more = false;
            if has_former {
                let mut tx = connection.begin_with(BEGIN).await?;
                self.rename(&mut tx, former, name).await?;
                more = self.rename_jobs(&mut tx, former, name).await?;
                tx.commit().await?;
            }
            connection.done();
            if has_former {
                self.written.notify_waiters();
            }
            if !more {
                break;
            }
        }
        Ok(())
    }
}
