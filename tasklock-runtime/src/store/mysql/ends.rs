//! How runs end: one try of each verb.

use serde_json::{Value, json};
use sqlx::mysql::MySqlRow;
use sqlx::{Connection, MySqlConnection};

use super::statements::{BEGIN, Statements};
use super::{MySqlStore, column};
use crate::fault;
use crate::lease::{LeaseKey, OwnerToken};
use crate::store::Finish;
use crate::store::sql::goes_away;
use crate::store::sql::json::{batch, ends, keys};

impl MySqlStore {
    pub(super) async fn finish_once(&self, finishes: &[Finish]) -> Result<Vec<i64>, sqlx::Error> {
        // A name is given back like a job that ends, in the same statement.
        let names = finishes.iter().filter_map(|end| end.resource.clone());
        let names: Vec<LeaseKey> = names.collect();
        let free: Vec<Finish> = names.iter().cloned().map(Finish::of_name).collect();
        let (gone, mut kept): (Vec<&Finish>, Vec<&Finish>) =
            finishes.iter().partition(|end| goes_away(end));
        kept.extend(&free);
        let gone: Vec<LeaseKey> = gone.into_iter().map(|end| end.key.clone()).collect();
        let statements = &self.statements;
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        let mut finished = Vec::new();
        if !kept.is_empty() {
            let locked = sqlx::query(&statements.lock_ends)
                .bind(ends(&kept))
                .fetch_all(&mut *tx)
                .await?;
            finished = statements.write_ends(&mut tx, &locked).await?;
        }
        if !gone.is_empty() {
            let locked: Vec<i64> = sqlx::query_as(&statements.lock_held)
                .bind(keys(&gone))
                .fetch_all(&mut *tx)
                .await?
                .into_iter()
                .map(|(id, _): (i64, bool)| id)
                .collect();
            statements
                .by_ids(&mut tx, &statements.drop_jobs, &locked)
                .await?;
            finished.extend(locked);
        }
        statements
            .by_ids(&mut tx, &statements.drop_beats, &finished)
            .await?;
        fault::at("end to be committed");
        tx.commit().await?;
        if !names.is_empty() {
            statements.unpark(&mut connection, &names).await;
        }
        connection.done();
        self.tell();
        fault::at("end committed");
        Ok(finished)
    }

    pub(super) async fn release_once(&self, leases: &[LeaseKey]) -> Result<Vec<i64>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let released = self.statements.give_back(&mut connection, leases).await?;
        self.statements.unpark(&mut connection, leases).await;
        connection.done();
        self.tell();
        Ok(released)
    }

    pub(super) async fn abandon_once(&self, token: &OwnerToken) -> Result<u64, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let rows: Vec<(i64, i64)> = sqlx::query_as(&self.statements.by_token)
            .bind(token.as_str())
            .fetch_all(&mut *connection)
            .await?;
        let key = |(job, fence)| LeaseKey {
            job,
            fence,
            owner: token.clone(),
        };
        let leases: Vec<LeaseKey> = rows.into_iter().map(key).collect();
        let released = self.statements.give_back(&mut connection, &leases).await?;
        self.statements.unpark(&mut connection, &leases).await;
        connection.done();
        self.tell();
        Ok(released.len() as u64)
    }
}

impl Statements {
    /// Writes rows that were locked, as their ends make them; answers which.
    pub(super) async fn write_ends(
        &self,
        tx: &mut MySqlConnection,
        locked: &[MySqlRow],
    ) -> Result<Vec<i64>, sqlx::Error> {
        let ids = locked.iter().map(|row| column(row, "id"));
        let ids: Vec<i64> = ids.collect::<Result<_, _>>()?;
        if !ids.is_empty() {
            let rows: Vec<Value> = locked.iter().map(ended).collect::<Result<_, _>>()?;
            sqlx::query(&self.write_ends)
                .bind(Value::from(rows).to_string())
                .execute(tx)
                .await?;
        }
        Ok(ids)
    }

    /// In a transaction of its own: first the rows are locked, then written, and then their side rows go.
    pub(super) async fn give_back(
        &self,
        connection: &mut MySqlConnection,
        leases: &[LeaseKey],
    ) -> Result<Vec<i64>, sqlx::Error> {
        if leases.is_empty() {
            return Ok(Vec::new());
        }
        let mut tx = connection.begin_with(BEGIN).await?;
        let locked: Vec<(i64, bool)> = sqlx::query_as(&self.lock_held)
            .bind(keys(leases))
            .fetch_all(&mut *tx)
            .await?;
        let locked: Vec<i64> = locked.into_iter().map(|(id, _)| id).collect();
        for statement in [&self.release, &self.drop_beats] {
            self.by_ids(&mut tx, statement, &locked).await?;
        }
        tx.commit().await?;
        Ok(locked)
    }

    /// A statement whose one parameter are ids; not for none.
    pub(super) async fn by_ids(
        &self,
        connection: &mut MySqlConnection,
        statement: &crate::store::sql::Text,
        ids: &[i64],
    ) -> Result<(), sqlx::Error> {
        if ids.is_empty() {
            return Ok(());
        }
        sqlx::query(statement)
            .bind(batch(ids, |id| id))
            .execute(connection)
            .await
            .map(|_| ())
    }
}

fn ended(row: &MySqlRow) -> Result<Value, sqlx::Error> {
    let number = |name: &str| column::<Option<i64>>(row, name);
    Ok(json!([
        number("id")?,
        column::<Option<&str>>(row, "outcome")?,
        column::<Option<&str>>(row, "error")?,
        column::<Option<&str>>(row, "state")?,
        number("attempt")?,
        number("crashes")?,
        number("refusals")?,
        number("hold_until")?,
        number("due_at")?,
        number("slot_at")?,
        number("begun_at")?,
        number("again")?,
        number("missed")?,
        number("skipped")?,
        number("next_at")?,
        number("next_in")?,
        number("prune_at")?,
    ]))
}
