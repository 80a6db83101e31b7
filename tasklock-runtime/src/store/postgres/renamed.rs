//! Tasks that have had other names: one try of each step.

use sqlx::{Connection, PgConnection};

use super::statements::BEGIN;
use super::{PgStore, announce};
use crate::store::Declaration;
use crate::store::declaring::{ALIAS_AGAIN, ALIAS_LASTS, RENAMED, RENAMINGS};
use crate::task::micros;

impl PgStore {
    /// Tasks whose names are former ones, under a new name that somebody serves. Where nobody does any more, the row is
    /// theirs again, and so are the jobs.
    pub(super) async fn take_back(
        &self,
        tx: &mut PgConnection,
        declarations: &[Declaration],
    ) -> Result<Vec<String>, sqlx::Error> {
        let (served, own) = self.aliases(tx, declarations).await?;
        for (name, newer) in &own {
            self.rename(tx, newer, name).await?;
            self.rename_jobs(tx, newer, name).await?;
        }
        if !own.is_empty() {
            let names: Vec<String> = own.into_iter().map(|(name, _)| name).collect();
            sqlx::query(&self.statements.unalias)
                .bind(names)
                .execute(tx)
                .await?;
        }
        Ok(served)
    }

    /// The tasks whose names are former ones and served under another; and those that are no longer, with their newer names:
    /// nobody serves those, or they are former names of the task itself.
    async fn aliases(
        &self,
        connection: &mut PgConnection,
        declarations: &[Declaration],
    ) -> Result<(Vec<String>, Vec<(String, String)>), sqlx::Error> {
        let tasks: Vec<&str> = declarations.iter().map(|d| &*d.task).collect();
        let aliases: Vec<(String, String, bool)> = sqlx::query_as(&self.statements.aliases)
            .bind(tasks)
            .fetch_all(connection)
            .await?;
        let (mut elsewhere, mut own) = (Vec::new(), Vec::new());
        for (name, newer, served) in aliases {
            let declared = declarations.iter().find(|declared| declared.task == name);
            if served && declared.is_none_or(|declared| !declared.aliases.contains(&newer)) {
                elsewhere.push(name);
            } else {
                own.push((name, newer));
            }
        }
        Ok((elsewhere, own))
    }

    /// This name is a former one from now on.
    pub(super) async fn alias(
        &self,
        tx: &mut PgConnection,
        former: &str,
        name: &str,
    ) -> Result<u64, sqlx::Error> {
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
        tx: &mut PgConnection,
        from: &str,
        to: &str,
    ) -> Result<u64, sqlx::Error> {
        let statements = &self.statements;
        let mut written = 0;
        for statement in [
            &statements.rename_pause,
            &statements.rename,
            &statements.drop_former,
        ] {
            written += sqlx::query(statement)
                .bind(from)
                .bind(to)
                .execute(&mut *tx)
                .await?
                .rows_affected();
        }
        Ok(written)
    }

    /// Jobs that wait and run, up to a number.
    async fn rename_jobs(
        &self,
        connection: &mut PgConnection,
        former: &str,
        name: &str,
    ) -> Result<(), sqlx::Error> {
        for _ in 0..RENAMINGS {
            let renamed = sqlx::query(&self.statements.rename_jobs)
                .bind(former)
                .bind(name)
                .bind(RENAMED)
                .execute(&mut *connection)
                .await?
                .rows_affected();
            if renamed == 0 {
                return Ok(());
            }
            announce::work(connection, &self.statements).await?;
        }
        Ok(())
    }

    pub(super) async fn tend_once(
        &self,
        declarations: &[Declaration],
    ) -> Result<Vec<String>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let mut renamed: Vec<&Declaration> = declarations.iter().collect();
        renamed.retain(|declared| !declared.aliases.is_empty());
        if !renamed.is_empty() {
            let (elsewhere, _) = self.aliases(&mut connection, declarations).await?;
            renamed.retain(|declared| !elsewhere.contains(&declared.task));
        }
        for declared in &renamed {
            let lapsing: Vec<String> = sqlx::query_scalar(&self.statements.lapsing)
                .bind(&declared.aliases)
                .bind(micros(ALIAS_AGAIN))
                .bind(&declared.task)
                .fetch_all(&mut *connection)
                .await?;
            if lapsing.is_empty() {
                continue;
            }
            let mut tx = connection.begin_with(BEGIN).await?;
            sqlx::query(&self.statements.lock_aliases)
                .execute(&mut *tx)
                .await?;
            for former in &lapsing {
                self.alias(&mut tx, former, &declared.task).await?;
            }
            announce::work(&mut tx, &self.statements).await?;
            tx.commit().await?;
        }
        let standing = declarations.iter().filter(|declared| declared.standing);
        let tasks: Vec<&str> = standing.map(|declared| &*declared.task).collect();
        let missing = sqlx::query_scalar(&self.statements.undeclared)
            .bind(tasks)
            .fetch_all(&mut *connection)
            .await?;
        for declared in renamed {
            for former in &declared.aliases {
                self.rename(&mut connection, former, &declared.task).await?;
                self.rename_jobs(&mut connection, former, &declared.task)
                    .await?;
            }
        }
        connection.done();
        Ok(missing)
    }
}
