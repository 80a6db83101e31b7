//! Claims of jobs that need a second lease.

use std::collections::HashMap;

use sqlx::SqliteConnection;

use super::named::Try;
use super::statements::Statements;
use super::{SqliteStore, batch};
use crate::lease::{LeaseKey, OwnerToken};
use crate::store::sql::{Taken, Takings};
use crate::store::{Claim, ClaimRequest};

/// The most jobs that one claim parks beside those that it has met.
const PARK_MOST: i64 = 1_000;

impl SqliteStore {
    /// Acquires the resources of the rows that were taken; puts back those that do not get theirs, and says whether
    /// there were any. In the one transaction that writes: nothing is given back meanwhile, so nothing is missed.
    pub(super) async fn equip(
        &self,
        connection: &mut SqliteConnection,
        request: &ClaimRequest,
        taken: Vec<Taken>,
        expired: Vec<(i64, Option<Vec<u8>>)>,
    ) -> Result<(Vec<Claim>, bool), sqlx::Error> {
        let mut takings = Takings::of(request, taken);
        // Any bytes may stand there; those of an owner are a text.
        let owner = |owner: Option<Vec<u8>>| {
            let owner = String::from_utf8(owner?).ok()?;
            Some(OwnerToken::from_stored(&owner))
        };
        let owners: HashMap<i64, OwnerToken> = expired
            .into_iter()
            .filter_map(|(id, before)| Some((id, owner(before)?)))
            .collect();
        let inherited: HashMap<String, OwnerToken> = takings
            .inherited(&owners)
            .into_iter()
            .map(|(wanted, before)| (wanted.name, before))
            .collect();
        let wanted = takings.wanted();
        let tries = wanted.iter();
        let tries = tries.map(|wanted| (wanted, inherited.get(&wanted.name)));
        let tries: Vec<Try<'_>> = tries.collect();
        for (name, key) in self.acquire_in(connection, &tries).await? {
            takings.grant(name, key);
        }
        let (claims, losers, busy) = takings.settle();
        let statements = &self.statements;
        if !losers.is_empty() {
            sqlx::query(&statements.put_back)
                .bind(batch(&losers, |id| id))
                .execute(&mut *connection)
                .await?;
            sqlx::query(&statements.park)
                .bind(batch(&busy, |name| name))
                .bind(PARK_MOST)
                .execute(connection)
                .await?;
        }
        Ok((claims, !busy.is_empty()))
    }

    pub(super) async fn has_parked(
        &self,
        connection: &mut SqliteConnection,
        tasks: &str,
    ) -> Result<bool, sqlx::Error> {
        sqlx::query_scalar(&self.statements.has_parked)
            .bind(tasks)
            .fetch_one(connection)
            .await
    }

    pub(super) async fn assign_once(
        &self,
        key: &LeaseKey,
        resource: &str,
    ) -> Result<(), sqlx::Error> {
        let mut connection = self.checkout().await?;
        sqlx::query(&self.statements.assign)
            .bind(key.job)
            .bind(key.fence)
            .bind(key.owner.as_str())
            .bind(resource)
            .execute(&mut *connection)
            .await?;
        connection.done();
        Ok(())
    }
}

impl Statements {
    /// Of these leases, given back or not ours any more: what waits for their names falls due, if they are free. What
    /// fails here the next sweep finds.
    pub(super) async fn unpark(&self, connection: &mut SqliteConnection, leases: &[LeaseKey]) {
        let unparked = sqlx::query(&self.unpark)
            .bind(batch(leases, |key| key.job))
            .execute(connection)
            .await;
        if let Err(error) = unparked {
            tracing::debug!("parked jobs wait for the next sweep: {error}");
        }
    }
}
