//! Tasks that have had other names: one try of each step.

use sqlx::{Connection, MySqlConnection};

use super::MySqlStore;
use super::statements::{BEGIN, FORMER_PARTS};
use crate::store::Declaration;
use crate::store::declaring::{ALIAS_AGAIN, ALIAS_LASTS, RENAMED, RENAMINGS};
use crate::store::sql::json::batch;
use crate::task::micros;

impl MySqlStore {
    /// Whether the name is a former one, under a new name that somebody serves. Where nobody does any more, or the new name is a
    /// former one of the task itself, the row goes by this name again, and so do the jobs.
    pub(super) async fn is_served_elsewhere(
        &self,
        tx: &mut MySqlConnection,
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
        connection: &mut MySqlConnection,
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
        tx: &mut MySqlConnection,
        former: &str,
        name: &str,
    ) -> Result<(), sqlx::Error> {
        sqlx::query(&self.statements.realias)
            .bind(name)
            .bind(micros(ALIAS_LASTS))
            .bind(former)
            .bind(name)
            .bind(former)
            .bind(name)
            .execute(&mut *tx)
            .await?;
        sqlx::query(&self.statements.alias)
            .bind(former)
            .bind(name)
            .bind(micros(ALIAS_LASTS))
            .execute(&mut *tx)
            .await?;
        self.rename(tx, former, name).await
    }

    /// The row itself, whoever runs it; or, where there is one of the present name, away with it. What was paused is.
    async fn rename(
        &self,
        tx: &mut MySqlConnection,
        from: &str,
        to: &str,
    ) -> Result<(), sqlx::Error> {
        let statements = &self.statements;
        sqlx::query(&statements.rename_pause)
            .bind(to)
            .bind(from)
            .execute(&mut *tx)
            .await?;
        sqlx::query(&statements.drop_pause)
            .bind(from)
            .execute(&mut *tx)
            .await?;
        let Some(id) = self.standing_job(tx, from).await? else {
            return Ok(());
        };
        let there = self.standing_job(tx, to).await?;
        let renaming = match there {
            None => sqlx::query(&statements.rename).bind(to).bind(id),
            Some(_) => sqlx::query(&statements.drop_former).bind(id),
        };
        renaming.execute(tx).await.map(|_| ())
    }

    async fn standing_job(
        &self,
        connection: &mut MySqlConnection,
        task: &str,
    ) -> Result<Option<i64>, sqlx::Error> {
        let row = sqlx::query(&self.statements.declared)
            .bind(task)
            .fetch_optional(connection)
            .await?;
        row.map(|row| super::column(&row, "id")).transpose()
    }

    /// Jobs that wait and run, up to a number; answers whether there may be more.
    async fn rename_jobs(
        &self,
        tx: &mut MySqlConnection,
        former: &str,
        name: &str,
    ) -> Result<bool, sqlx::Error> {
        let statements = &self.statements;
        let mut query = sqlx::query_scalar(&statements.former);
        for _ in 0..FORMER_PARTS {
            query = query.bind(former).bind(name).bind(RENAMED);
        }
        let seen: Vec<i64> = query.fetch_all(&mut *tx).await?;
        if seen.is_empty() {
            return Ok(false);
        }
        let locked: Vec<i64> = sqlx::query_scalar(&statements.lock_former)
            .bind(batch(&seen, |id| id))
            .bind(former)
            .fetch_all(&mut *tx)
            .await?;
        if locked.is_empty() {
            return Ok(false);
        }
        sqlx::query(&statements.rename_jobs)
            .bind(batch(&locked, |id| id))
            .bind(name)
            .execute(&mut *tx)
            .await?;
        Ok(true)
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
                .bind(&declared.task)
                .bind(micros(ALIAS_AGAIN))
                .fetch_one(&mut *connection)
                .await?;
            if lapsing {
                let mut tx = connection.begin_with(BEGIN).await?;
                sqlx::query(&self.statements.lock_starts)
                    .fetch_all(&mut *tx)
                    .await?;
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
        let former = renamed.iter().flat_map(|declared| &declared.aliases);
        let former: Vec<&String> = former.collect();
        if former.is_empty() {
            connection.done();
            return Ok(missing);
        }
        let left: Vec<String> = sqlx::query_scalar(&self.statements.left_over)
            .bind(batch(&former, |name| name))
            .fetch_all(&mut *connection)
            .await?;
        for declared in renamed {
            for former in declared.aliases.iter().filter(|name| left.contains(name)) {
                self.rename_all(&mut connection, former, &declared.task)
                    .await?;
            }
        }
        connection.done();
        Ok(missing)
    }

    async fn rename_all(
        &self,
        connection: &mut MySqlConnection,
        former: &str,
        name: &str,
    ) -> Result<(), sqlx::Error> {
        for _ in 0..RENAMINGS {
            let mut tx = connection.begin_with(BEGIN).await?;
            self.rename(&mut tx, former, name).await?;
            let more = self.rename_jobs(&mut tx, former, name).await?;
            tx.commit().await?;
            if !more {
                break;
            }
            self.tell();
        }
        Ok(())
    }
}
