//! What a start makes of the standing jobs, one try.

use sqlx::mysql::MySqlRow;
use sqlx::{Connection, MySqlConnection};

use super::statements::BEGIN;
use super::{MySqlStore, column};
use crate::store::Declaration;
use crate::store::declaring::{Standing, first};
use crate::store::sql::{follows, follows_columns};

impl MySqlStore {
    pub(super) async fn declare_once(
        &self,
        declarations: &[Declaration],
    ) -> Result<bool, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        sqlx::query(&self.statements.lock_starts)
            .fetch_all(&mut *tx)
            .await?;
        let mut is_late = false;
        for declared in declarations {
            is_late |= !self.declare_one(&mut tx, declared).await?;
        }
        tx.commit().await?;
        connection.done();
        self.tell();
        Ok(!is_late)
    }

    async fn declare_one(
        &self,
        tx: &mut MySqlConnection,
        declared: &Declaration,
    ) -> Result<bool, sqlx::Error> {
        if self.is_served_elsewhere(tx, declared).await? {
            return Ok(true);
        }
        for former in &declared.aliases {
            self.alias(tx, former, &declared.task).await?;
        }
        if !declared.standing {
            return Ok(true);
        }
        // Looks first, and locks only what is to be written: most starts change nothing.
        for (statement, locked) in [
            (&self.statements.declared, false),
            (&self.statements.declared_locked, true),
        ] {
            let found = sqlx::query(statement)
                .bind(&declared.task)
                .fetch_optional(&mut *tx)
                .await?;
            let now: i64 = sqlx::query_scalar(&self.statements.now)
                .fetch_one(&mut *tx)
                .await?;
            let Some(row) = found else {
                return self.declare_new(tx, declared, now).await.map(|()| true);
            };
            let found = standing(&row)?;
            if found.is_late(declared, now) {
                return Ok(false);
            }
            match found.declared(declared, now) {
                None => break,
                Some(new) if locked => self.write(tx, column(&row, "id")?, new).await?,
                Some(_) => {}
            }
        }
        Ok(true)
    }

    async fn declare_new(
        &self,
        tx: &mut MySqlConnection,
        declared: &Declaration,
        now: i64,
    ) -> Result<(), sqlx::Error> {
        let (slot, due) = first(declared, now);
        sqlx::query(&self.statements.declare)
            .bind(&declared.task)
            .bind(&declared.schedule)
            .bind(due)
            .bind(&declared.resource)
            .bind(slot)
            .bind(&declared.version)
            .execute(tx)
            .await
            .map(|_| ())
    }

    async fn write(
        &self,
        tx: &mut MySqlConnection,
        id: i64,
        new: Standing,
    ) -> Result<(), sqlx::Error> {
        let (next_at, next_in) = follows_columns(new.follows);
        let mut query = sqlx::query(&self.statements.redeclare)
            .bind(new.schedule)
            .bind(new.resource)
            .bind(new.parked)
            .bind(new.due_at)
            .bind(new.slot_at)
            .bind(next_at)
            .bind(next_in)
            .bind(new.versions)
            .bind(new.again);
        for moved in [new.moved; 4] {
            query = query.bind(moved);
        }
        query
            .bind(new.parked)
            .bind(new.parked)
            .bind(id)
            .execute(tx)
            .await
            .map(|_| ())
    }
}

fn standing(row: &MySqlRow) -> Result<Standing, sqlx::Error> {
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
