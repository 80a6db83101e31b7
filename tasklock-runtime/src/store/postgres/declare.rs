//! What a start makes of the standing jobs, one try.

use sqlx::postgres::PgRow;
use sqlx::{Connection, PgConnection};

use super::statements::BEGIN;
use super::{PgStore, announce, column};
use crate::store::Declaration;
use crate::store::declaring::{ALIAS_AGAIN, ALIAS_LASTS, RENAMED, Standing, first};
use crate::store::sql::{follows, follows_columns};
use crate::task::micros;

impl PgStore {
    pub(super) async fn declare_once(
        &self,
        declarations: &[Declaration],
    ) -> Result<(), sqlx::Error> {
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        sqlx::query(&self.statements.lock_aliases)
            .execute(&mut *tx)
            .await?;
        let now = sqlx::query_scalar(&self.statements.now)
            .fetch_one(&mut *tx)
            .await?;
        let served_elsewhere = self.take_back(&mut tx, declarations).await?;
        let own = |declared: &&Declaration| !served_elsewhere.contains(&declared.task);
        let declarations: Vec<&Declaration> = declarations.iter().filter(own).collect();
        let mut written = 0;
        for declared in &declarations {
            for former in &declared.aliases {
                written += self.alias(&mut tx, former, &declared.task).await?;
            }
        }
        let declarations = &declarations[..];
        written += self.declare_new(&mut tx, declarations, now).await?;
        written += self.redeclare(&mut tx, declarations, now).await?;
        if written > 0 {
            announce::work(&mut tx, &self.statements).await?;
        }
        tx.commit().await?;
        connection.done();
        Ok(())
    }

    /// The tasks whose names are former ones, under a new name that somebody serves. Where nobody does any more, the row is
    /// theirs again.
    async fn take_back(
        &self,
        tx: &mut PgConnection,
        declarations: &[Declaration],
    ) -> Result<Vec<String>, sqlx::Error> {
        let tasks: Vec<&str> = declarations.iter().map(|d| &*d.task).collect();
        let aliases: Vec<(String, String, bool)> = sqlx::query_as(&self.statements.aliases)
            .bind(&tasks)
            .fetch_all(&mut *tx)
            .await?;
        let (served, own): (Vec<_>, Vec<_>) = aliases.into_iter().partition(|alias| alias.2);
        for (name, newer, _) in &own {
            self.rename(tx, newer, name).await?;
        }
        if !own.is_empty() {
            let names: Vec<String> = own.into_iter().map(|alias| alias.0).collect();
            sqlx::query(&self.statements.unalias)
                .bind(names)
                .execute(tx)
                .await?;
        }
        Ok(served.into_iter().map(|alias| alias.0).collect())
    }

    /// This name is a former one from now on.
    async fn alias(
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
        sqlx::query(&self.statements.rename_pause)
            .bind(former)
            .bind(name)
            .execute(&mut *tx)
            .await?;
        self.rename(tx, former, name).await
    }

    /// The row itself, whoever runs it; or, where there is one of the present name, away with it.
    async fn rename(
        &self,
        tx: &mut PgConnection,
        from: &str,
        to: &str,
    ) -> Result<u64, sqlx::Error> {
        let mut written = 0;
        for statement in [&self.statements.rename, &self.statements.drop_former] {
            written += sqlx::query(statement)
                .bind(from)
                .bind(to)
                .execute(&mut *tx)
                .await?
                .rows_affected();
        }
        Ok(written)
    }

    async fn rename_jobs(
        &self,
        connection: &mut PgConnection,
        former: &str,
        name: &str,
    ) -> Result<u64, sqlx::Error> {
        let renamed = sqlx::query(&self.statements.rename_jobs)
            .bind(former)
            .bind(name)
            .bind(RENAMED)
            .execute(&mut *connection)
            .await?
            .rows_affected();
        if renamed > 0 {
            announce::work(connection, &self.statements).await?;
        }
        Ok(renamed)
    }

    pub(super) async fn tend_once(
        &self,
        declarations: &[Declaration],
    ) -> Result<Vec<String>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        for declared in declarations.iter().filter(|d| !d.aliases.is_empty()) {
            let lapsing: Vec<String> = sqlx::query_scalar(&self.statements.lapsing)
                .bind(&declared.aliases)
                .bind(micros(ALIAS_AGAIN))
                .bind(&declared.task)
                .fetch_all(&mut *connection)
                .await?;
            if !lapsing.is_empty() {
                let mut tx = connection.begin_with(BEGIN).await?;
                sqlx::query(&self.statements.lock_aliases)
                    .execute(&mut *tx)
                    .await?;
                for former in &lapsing {
                    self.alias(&mut tx, former, &declared.task).await?;
                }
                tx.commit().await?;
            }
            for former in &declared.aliases {
                self.rename(&mut connection, former, &declared.task).await?;
                while self
                    .rename_jobs(&mut connection, former, &declared.task)
                    .await?
                    == RENAMED.unsigned_abs()
                {}
            }
        }
        let tasks: Vec<&str> = declarations.iter().map(|d| &*d.task).collect();
        let missing = sqlx::query_scalar(&self.statements.undeclared)
            .bind(tasks)
            .fetch_all(&mut *connection)
            .await?;
        connection.done();
        Ok(missing)
    }

    async fn declare_new(
        &self,
        tx: &mut PgConnection,
        declarations: &[&Declaration],
        now: i64,
    ) -> Result<u64, sqlx::Error> {
        let instants = declarations.iter().map(|declared| first(declared, now));
        let (slots, dues): (Vec<Option<i64>>, Vec<Option<i64>>) = instants.unzip();
        fn texts<'a>(
            declarations: &[&'a Declaration],
            of: fn(&'a Declaration) -> Option<&'a str>,
        ) -> Vec<Option<&'a str>> {
            declarations.iter().copied().map(of).collect()
        }
        let written = sqlx::query(&self.statements.declare)
            .bind(texts(declarations, |declared| Some(&declared.task)))
            .bind(texts(declarations, |declared| Some(&declared.schedule)))
            .bind(dues)
            .bind(texts(declarations, |declared| declared.resource.as_deref()))
            .bind(slots)
            .bind(texts(declarations, |declared| declared.version.as_deref()))
            .execute(tx)
            .await?;
        Ok(written.rows_affected())
    }

    /// Looks first, and locks only what is to be written: most starts change nothing.
    async fn redeclare(
        &self,
        tx: &mut PgConnection,
        declarations: &[&Declaration],
        now: i64,
    ) -> Result<u64, sqlx::Error> {
        let mut changed: Vec<&str> = declarations.iter().map(|d| &*d.task).collect();
        let statements = &self.statements;
        for (statement, locked) in [
            (&statements.standings, false),
            (&statements.lock_standings, true),
        ] {
            if changed.is_empty() {
                return Ok(0);
            }
            let rows = sqlx::query(statement)
                .bind(&changed)
                .fetch_all(&mut *tx)
                .await?;
            changed.clear();
            for row in &rows {
                let task: &str = column(row, "task")?;
                let declared = declarations.iter().find(|declared| declared.task == task);
                let Some(declared) = declared else { continue };
                let Some(new) = standing(row)?.declared(declared, now) else {
                    continue;
                };
                changed.push(&declared.task);
                if locked {
                    self.write(tx, column(row, "id")?, new).await?;
                }
            }
        }
        Ok(changed.len() as u64)
    }

    async fn write(
        &self,
        tx: &mut PgConnection,
        id: i64,
        new: Standing,
    ) -> Result<(), sqlx::Error> {
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

fn standing(row: &PgRow) -> Result<Standing, sqlx::Error> {
    let attempt: i32 = column(row, "attempt")?;
    Ok(Standing {
        running: column(row, "running")?,
        schedule: column(row, "schedule")?,
        resource: column(row, "resource")?,
        due_at: column(row, "due_at")?,
        slot_at: column(row, "slot_at")?,
        parked: column(row, "parked")?,
        begun: column(row, "begun")?,
        again: column(row, "again")?,
        moved: false,
        attempt: u32::try_from(attempt).unwrap_or(0),
        hold_until: column(row, "hold_until")?,
        follows: follows(column(row, "next_at")?, column(row, "next_in")?),
        versions: column(row, "versions")?,
    })
}
