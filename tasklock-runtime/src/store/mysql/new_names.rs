//! Acquiring names of which there is no row.
//!
//! The new row goes into the index of keys, and waits there where somebody else makes the same one in an open transaction, or has locked
//! the gap. A statement that says how many rows it has (`VALUES`) is given its ids before it begins. One that reads them from
//! elsewhere (`SELECT`) holds the lock of the table's next id until it ends, by the default `innodb_autoinc_lock_mode` of
//! MariaDB: whatever anybody inserts would wait with it.

use sqlx::MySqlConnection;

use super::insert::of_sizes;
use super::named::{Answer, Try, written};
use super::statements::Statements;
use crate::lease::LeaseKey;
use crate::store::Acquire;
use crate::task::micros;

impl Statements {
    pub(super) async fn make_new(
        &self,
        tx: &mut MySqlConnection,
        tries: &[Try<'_>],
        missing: &[String],
        answer: &mut Answer,
    ) -> Result<(), sqlx::Error> {
        if missing.is_empty() {
            return Ok(());
        }
        let wanted = tries.iter().map(|(wanted, _)| *wanted);
        let mut missing: Vec<&Acquire> = wanted
            .filter(|wanted| missing.contains(&wanted.name))
            .collect();
        // In an order that all callers share: then none waits for another in a circle.
        missing.sort_by_key(|wanted| &wanted.name);
        let next = self.next_fence(tx, missing.len()).await?;
        let missing: Vec<(&Acquire, i64)> = missing.into_iter().zip(next..).collect();
        for part in of_sizes(vec![(0..missing.len()).collect()]) {
            let rows = self.new_name.repeated(part.len(), ", ").0;
            let mut query = sqlx::query(self.acquire_new.with(&rows));
            for (wanted, fence) in part.into_iter().map(|nth| missing[nth]) {
                query = query
                    .bind(&wanted.name)
                    .bind(wanted.owner.as_str())
                    .bind(&wanted.worker)
                    .bind(micros(wanted.ttl))
                    .bind(fence);
            }
            query.execute(&mut *tx).await?;
        }
        let rows = missing
            .iter()
            .map(|(wanted, fence)| written(None, wanted, *fence));
        let made: Vec<(i64, String, i64)> = sqlx::query_as(&self.acquired)
            .bind(serde_json::Value::from(rows.collect::<Vec<_>>()).to_string())
            .fetch_all(&mut *tx)
            .await?;
        for (job, name, fence) in made {
            if let Some((wanted, _)) = missing.iter().find(|(wanted, _)| wanted.name == name) {
                let owner = wanted.owner.clone();
                answer.granted.insert(name, LeaseKey { job, fence, owner });
            }
        }
        Ok(())
    }
}
