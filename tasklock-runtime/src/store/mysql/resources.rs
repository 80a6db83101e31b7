//! Claims of jobs that need a second lease.

use std::collections::HashMap;

use sqlx::{MySql, Transaction};

use super::MySqlStore;
use super::named::Try;
use crate::lease::{LeaseKey, OwnerToken};
use crate::store::sql::json::batch;
use crate::store::sql::{Taken, Takings};
use crate::store::{Claim, ClaimRequest};

/// The most jobs that one claim parks beside those that it has met.
const PARK_MOST: i64 = 1_000;

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
            let behind: Vec<i64> = sqlx::query_scalar(&statements.lock_behind)
                .bind(batch(&busy, |name| name))
                .bind(PARK_MOST)
                .fetch_all(&mut **tx)
                .await?;
            statements.by_ids(tx, &statements.park, &behind).await?;
        }
        Ok(Equipped { claims, busy })
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
