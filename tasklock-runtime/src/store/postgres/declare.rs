//! What a start makes of the standing jobs, one try.

use sqlx::postgres::PgRow;
use sqlx::{Connection, PgConnection};

use super::statements::BEGIN;
use super::{PgStore, announce, column};
use crate::store::Declaration;
use crate::store::declaring::{Standing, first};
use crate::store::sql::{follows, follows_columns};

impl PgStore {
    pub(super) async fn declare_once(
        &self,
        declarations: &[Declaration],
    ) -> Result<bool, sqlx::Error> {
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
        let standing = declarations
            .into_iter()
            .filter(|declared| declared.standing);
        let declarations = &standing.collect::<Vec<_>>()[..];
        written += self.declare_new(&mut tx, declarations, now).await?;
        let redeclared = self.redeclare(&mut tx, declarations, now).await?;
        written += redeclared.unwrap_or(0);
        if written > 0 {
            announce::work(&mut tx, &self.statements).await?;
        }
        tx.commit().await?;
        connection.done();
        Ok(redeclared.is_some())
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

    /// Looks first, and locks only what is to be written: most starts change nothing. `None` if an instant has come that was
    /// to come.
    async fn redeclare(
        &self,
        tx: &mut PgConnection,
        declarations: &[&Declaration],
        now: i64,
    ) -> Result<Option<u64>, sqlx::Error> {
        let mut changed: Vec<&str> = declarations.iter().map(|d| &*d.task).collect();
        let mut is_late = false;
        let statements = &self.statements;
        for (statement, locked) in [
            (&statements.standings, false),
            (&statements.lock_standings, true),
        ] {
            if changed.is_empty() {
                break;
            }
            let rows = sqlx::query(statement)
                .bind(&changed)
                .fetch_all(&mut *tx)
                .await?;
            // Who had the rows may have run a slot meanwhile.
            let now = if locked {
                sqlx::query_scalar(&statements.now)
                    .fetch_one(&mut *tx)
                    .await?
            } else {
                now
            };
            changed.clear();
            for row in &rows {
                let task: &str = column(row, "task")?;
                let declared = declarations.iter().find(|declared| declared.task == task);
                let Some(declared) = declared else { continue };
                let standing = standing(row)?;
                if standing.is_late(declared, now) {
                    is_late = true;
                    continue;
                }
                let Some(new) = standing.declared(declared, now) else {
                    continue;
                };
                changed.push(&declared.task);
                if locked {
                    self.write(tx, column(row, "id")?, new).await?;
                }
            }
        }
        Ok((!is_late).then_some(changed.len() as u64))
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
