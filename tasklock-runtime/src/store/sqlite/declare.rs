//! What a start makes of the standing jobs, one try.

use sqlx::sqlite::SqliteRow;
use sqlx::{Connection, SqliteConnection};

use super::rows::text;
use super::statements::BEGIN;
use super::{SqliteStore, batch, column};
use crate::store::Declaration;
use crate::store::declaring::{ALIAS_AGAIN, ALIAS_LASTS, RENAMED, Standing, first};
use crate::store::sql::{Text, follows, follows_columns};
use crate::task::micros;

impl SqliteStore {
    pub(super) async fn declare_once(
        &self,
        declarations: &[Declaration],
    ) -> Result<(), sqlx::Error> {
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        let now = sqlx::query_scalar(&self.statements.now)
            .fetch_one(&mut *tx)
            .await?;
        for declared in declarations {
            self.declare_one(&mut tx, declared, now).await?;
        }
        tx.commit().await?;
        connection.done();
        Ok(())
    }

    /// Whether the name is a former one, under a new name that somebody serves. Where nobody does any more, the row goes by
    /// this name again.
    async fn is_served_elsewhere(
        &self,
        tx: &mut SqliteConnection,
        task: &str,
    ) -> Result<bool, sqlx::Error> {
        let newer: Option<(String, bool)> = sqlx::query_as(&self.statements.aliased)
            .bind(task)
            .fetch_optional(&mut *tx)
            .await?;
        match newer {
            None => Ok(false),
            Some((_, true)) => Ok(true),
            Some((newer, false)) => {
                self.take_over(tx, &newer, task).await?;
                sqlx::query(&self.statements.unalias)
                    .bind(task)
                    .execute(tx)
                    .await?;
                Ok(false)
            }
        }
    }

    /// This name is a former one from now on.
    async fn alias(
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
        self.rename(tx, &self.statements.rename_pause, former, name)
            .await?;
        self.take_over(tx, former, name).await
    }

    /// The row itself, whoever runs it; or, where there is one of the present name, away with it.
    async fn take_over(
        &self,
        tx: &mut SqliteConnection,
        from: &str,
        to: &str,
    ) -> Result<(), sqlx::Error> {
        self.rename(tx, &self.statements.rename, from, to).await?;
        self.rename(tx, &self.statements.drop_former, from, to)
            .await
    }

    async fn rename(
        &self,
        tx: &mut SqliteConnection,
        statement: &Text,
        from: &str,
        to: &str,
    ) -> Result<(), sqlx::Error> {
        let written = sqlx::query(statement).bind(from).bind(to).execute(tx);
        written.await.map(|_| ())
    }

    pub(super) async fn tend_once(
        &self,
        declarations: &[Declaration],
    ) -> Result<Vec<String>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        for declared in declarations.iter().filter(|d| !d.aliases.is_empty()) {
            let lapsing: bool = sqlx::query_scalar(&self.statements.lapsing)
                .bind(batch(&declared.aliases, |former| former))
                .bind(micros(ALIAS_AGAIN))
                .bind(&declared.task)
                .fetch_one(&mut *connection)
                .await?;
            if lapsing {
                self.keep(&mut connection, declared).await?;
            }
        }
        let missing = sqlx::query_scalar(&self.statements.undeclared)
            .bind(batch(declarations, |declared| &declared.task))
            .fetch_all(&mut *connection)
            .await?;
        connection.done();
        Ok(missing)
    }

    async fn keep(
        &self,
        connection: &mut SqliteConnection,
        declared: &Declaration,
    ) -> Result<(), sqlx::Error> {
        for former in &declared.aliases {
            loop {
                let mut tx = connection.begin_with(BEGIN).await?;
                self.alias(&mut tx, former, &declared.task).await?;
                let renamed = sqlx::query(&self.statements.rename_jobs)
                    .bind(former)
                    .bind(&declared.task)
                    .bind(RENAMED)
                    .execute(&mut *tx)
                    .await?
                    .rows_affected();
                tx.commit().await?;
                if renamed < RENAMED.unsigned_abs() {
                    break;
                }
            }
        }
        self.written.notify_waiters();
        Ok(())
    }

    async fn declare_one(
        &self,
        tx: &mut SqliteConnection,
        declared: &Declaration,
        now: i64,
    ) -> Result<(), sqlx::Error> {
        if self.is_served_elsewhere(tx, &declared.task).await? {
            return Ok(());
        }
        for former in &declared.aliases {
            self.alias(tx, former, &declared.task).await?;
        }
        let found = sqlx::query(&self.statements.declared)
            .bind(&declared.task)
            .fetch_optional(&mut *tx)
            .await?;
        let Some(row) = found else {
            let (slot, due) = first(declared, now);
            sqlx::query(&self.statements.declare)
                .bind(&declared.task)
                .bind(&declared.schedule)
                .bind(due)
                .bind(&declared.resource)
                .bind(slot)
                .bind(&declared.version)
                .execute(tx)
                .await?;
            return Ok(());
        };
        let Some(new) = standing(&row)?.declared(declared, now) else {
            return Ok(());
        };
        let id: i64 = column(&row, "id")?;
        let (next_at, next_in) = follows_columns(new.follows);
        sqlx::query(&self.statements.redeclare)
            .bind(id)
            .bind(new.schedule)
            .bind(new.resource)
            .bind(new.due_at)
            .bind(new.slot_at)
            .bind(next_at)
            .bind(next_in)
            .bind(new.versions)
            .bind(new.parked)
            .bind(new.again)
            .bind(new.moved)
            .execute(tx)
            .await
            .map(|_| ())
    }
}

fn standing(row: &SqliteRow) -> Result<Standing, sqlx::Error> {
    Ok(Standing {
        running: column(row, "running")?,
        schedule: text(row, "schedule")?,
        resource: text(row, "resource")?,
        due_at: column(row, "due_at")?,
        slot_at: column(row, "slot_at")?,
        parked: column(row, "parked")?,
        begun: column(row, "begun")?,
        again: column(row, "again")?,
        moved: false,
        attempt: column(row, "attempt")?,
        hold_until: column(row, "hold_until")?,
        follows: follows(column(row, "next_at")?, column(row, "next_in")?),
        versions: text(row, "versions")?,
    })
}
