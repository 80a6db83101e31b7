//! Claims of jobs that need a second lease.

use std::collections::{BTreeSet, HashMap};

use sqlx::{MySql, MySqlConnection, Transaction};

use super::MySqlStore;
use super::named::Try;
use crate::lease::{LeaseKey, OwnerToken};
use crate::store::sql::json::batch;
use crate::store::sql::{Taken, Takings};
use crate::store::{Claim, ClaimRequest};

/// The most jobs that one claim parks beside those that it has met; but one of each task and name.
const PARK_MOST: usize = 1_000;
/// Jobs of so many tasks and names are looked for by one statement.
const UNION: usize = 100;

/// What a claim took, as far as it has its resources.
pub(super) struct Equipped {
    pub(super) claims: Vec<Claim>,
    /// The resources that were not to be had. Jobs that need them were put aside.
    pub(super) busy: Vec<String>,
}

impl MySqlStore {
    /// Acquires the resources of the rows that were taken; puts back those that do not get theirs.
    pub(super) async fn equip(
        &self,
        tx: &mut Transaction<'_, MySql>,
        request: &ClaimRequest,
        taken: Vec<Taken>,
        owners: &HashMap<i64, OwnerToken>,
    ) -> Result<Equipped, sqlx::Error> {
        let place = |taken: &Taken| Some((taken.resource.clone()?, taken.claim.task.clone()));
        let places = taken
            .iter()
            .map(|taken| (taken.claim.key.job, place(taken)));
        let places: HashMap<i64, Option<(String, String)>> = places.collect();
        let mut takings = Takings::of(request, taken);
        let statements = &self.statements;
        let inherited: HashMap<String, OwnerToken> = takings
            .inherited(owners)
            .into_iter()
            .map(|(wanted, before)| (wanted.name, before))
            .collect();
        let wanted = takings.wanted();
        let tries = wanted.iter();
        let tries: Vec<Try<'_>> = tries
            .map(|wanted| (wanted, inherited.get(&wanted.name)))
            .collect();
        for (name, key) in statements.acquire_in(tx, &tries).await?.granted {
            takings.grant(name, key);
        }
        let (claims, losers, busy) = takings.settle();
        if !losers.is_empty() {
            statements.by_ids(tx, &statements.put_back, &losers).await?;
            let places: BTreeSet<(String, String)> = losers
                .iter()
                .filter_map(|job| places.get(job).cloned().flatten())
                .collect();
            let places: Vec<(String, String)> = places.into_iter().collect();
            self.park_behind(tx, &places).await?;
        }
        Ok(Equipped { claims, busy })
    }

    /// What is due of these tasks and needs these names would be taken next, in vain.
    async fn park_behind(
        &self,
        tx: &mut MySqlConnection,
        places: &[(String, String)],
    ) -> Result<(), sqlx::Error> {
        let statements = &self.statements;
        let most = (PARK_MOST / places.len().max(1)).max(1);
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        for chunk in places.chunks(UNION) {
            let union = statements.behind.repeated(chunk.len(), " UNION ALL ");
            let mut query = sqlx::query_as(union);
            for (name, task) in chunk {
                query = query.bind(name).bind(task).bind(most);
            }
            let behind: Vec<(i64, String)> = query.fetch_all(&mut *tx).await?;
            if behind.is_empty() {
                continue;
            }
            let locked: Vec<i64> = sqlx::query_scalar(&statements.lock_behind)
                .bind(batch(&behind, |row| row))
                .fetch_all(&mut *tx)
                .await?;
            statements.by_ids(tx, &statements.park, &locked).await?;
        }
        Ok(())
    }

    pub(super) async fn assign_once(
        &self,
        key: &LeaseKey,
        resource: &str,
    ) -> Result<(), sqlx::Error> {
        let mut connection = self.checkout().await?;
        sqlx::query(&self.statements.assign)
            .bind(resource)
            .bind(key.job)
            .bind(key.fence)
            .bind(key.owner.as_str())
            .execute(&mut *connection)
            .await?;
        connection.done();
        self.tell();
        Ok(())
    }
}
