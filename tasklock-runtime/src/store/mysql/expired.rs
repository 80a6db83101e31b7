//! Runs whose lease has expired, taken over within a claim.
//!
//! Whether there are any the look has seen, task by task. Only then they are looked for, each task's in its own part of the index
//! by constants, which end a range. What is found is locked by its id, and judged once more by a look at the side rows that is
//! newer than the lock.

use std::collections::{BTreeMap, HashMap};

use sqlx::{MySql, MySqlConnection, Transaction};

use super::MySqlStore;
use super::lanes::Look;
use super::rows::Locked;
use super::statements::{LIST, THE_FIRST, list};
use crate::lease::OwnerToken;
use crate::store::sql::Taken;
use crate::store::sql::json::batch;
use crate::store::{ClaimRequest, Wanted};

/// So many rows that have expired may be locked, by guarded transactions, before the next ones are not found behind them.
const LOCKED: usize = 100;

impl MySqlStore {
    /// Rows whose lease has expired, and who had them.
    pub(super) async fn take_over(
        &self,
        tx: &mut Transaction<'_, MySql>,
        request: &ClaimRequest,
        seen: &Look<'_>,
    ) -> Result<(Vec<Taken>, HashMap<i64, OwnerToken>), sqlx::Error> {
        let statements = &self.statements;
        let tasks = seen.expired();
        let mut rows: Vec<Locked> = Vec::new();
        for (suspects, most) in [(true, request.suspects), (false, request.limit)] {
            let most = most.min(request.limit - rows.len());
            if tasks.is_empty() || most == 0 {
                continue;
            }
            let expired = self.expired(tx, &tasks, suspects, most + LOCKED).await?;
            if expired.is_empty() {
                continue;
            }
            let locked = sqlx::query(&statements.lock_expired)
                .bind(batch(&expired, |id| id))
                .bind(i64::try_from(most).unwrap_or(i64::MAX))
                .fetch_all(&mut **tx)
                .await?;
            for row in &locked {
                rows.push(Locked::of(row, &request.token, true)?);
            }
        }
        if rows.is_empty() {
            return Ok((Vec::new(), HashMap::new()));
        }
        let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
        let beats: Vec<(i64, i64, bool)> = sqlx::query_as(&statements.beats)
            .bind(batch(&ids, |id| id))
            .fetch_all(&mut **tx)
            .await?;
        rows.retain(|row| {
            let lives = |(id, fence, alive): &(i64, i64, bool)| {
                *alive && (*id, *fence) == (row.id, row.fence)
            };
            !beats.iter().any(lives)
        });
        self.take(tx, request, &statements.take_over, &rows).await?;
        let owners = rows.iter();
        let owners = owners.filter_map(|row| Some((row.id, row.owner.clone()?)));
        let owners = owners.collect();
        Ok((rows.into_iter().map(Locked::taken).collect(), owners))
    }

    /// As far as can be seen without a lock, those first that have stood for the longest.
    async fn expired(
        &self,
        connection: &mut MySqlConnection,
        tasks: &[&Wanted],
        suspects: bool,
        most: usize,
    ) -> Result<Vec<i64>, sqlx::Error> {
        let mut kinds: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
        for wanted in tasks {
            let kind = kinds.entry(wanted.suspect_from).or_default();
            kind.push(&wanted.task);
        }
        let mut found: Vec<(i64, i64)> = Vec::new();
        for (suspect_from, tasks) in kinds {
            for chunk in tasks.chunks(LIST) {
                let places = format!("{}{THE_FIRST}", list(chunk.len()));
                let mut query = sqlx::query_as(self.statements.expired.with(&places))
                    .bind(suspect_from)
                    .bind(suspects);
                for task in chunk {
                    query = query.bind(*task);
                }
                let rows: Vec<(i64, i64)> = query
                    .bind(i64::try_from(most).unwrap_or(i64::MAX))
                    .fetch_all(&mut *connection)
                    .await?;
                found.extend(rows);
            }
        }
        found.sort_unstable_by_key(|(id, until)| (*until, *id));
        found.truncate(most);
        Ok(found.into_iter().map(|(id, _)| id).collect())
    }
}
