//! What a start makes of the standing jobs, one try.

use sqlx::sqlite::SqliteRow;
use sqlx::{Connection, SqliteConnection};

use super::rows::text;
use super::statements::BEGIN;
use super::{SqliteStore, column};
use crate::store::Declaration;
use crate::store::declaring::{Standing, first};
use crate::store::sql::{follows, follows_columns};

impl SqliteStore {
    pub(super) async fn declare_once(
        &self,
        declarations: &[Declaration],
    ) -> Result<bool, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        let now = sqlx::query_scalar(&self.statements.now)
            .fetch_one(&mut *tx)
            .await?;
        let mut is_late = false;
        for declared in declarations {
            is_late |= !self.declare_one(&mut tx, declared, now).await?;
        }
        tx.commit().await?;
        connection.done();
        Ok(!is_late)
    }

    async fn declare_one(
        &self,
        tx: &mut SqliteConnection,
        declared: &Declaration,
        now: i64,
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
            return Ok(true);
        };
        let found = standing(&row)?;
        if found.is_late(declared, now) {
            return Ok(false);
        }
        let Some(new) = found.declared(declared, now) else {
            return Ok(true);
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
            .map(|_| true)
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
