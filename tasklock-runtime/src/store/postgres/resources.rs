//! Claims of jobs that need a second lease.

use std::collections::HashMap;

use sqlx::{PgConnection, Postgres, Transaction};

use super::PgStore;
use super::announce;
use super::named::More;
use super::statements::Statements;
use crate::lease::{LeaseKey, OwnerToken};
use crate::store::sql::{Taken, Takings};
use crate::store::{Acquire, Claim, ClaimRequest};

/// The most jobs that one claim parks beside those that it has met.
const PARK_MOST: i64 = 1_000;

/// What a claim took, as far as it has its resources.
pub(super) struct Equipped {
    pub(super) claims: Vec<Claim>,
    /// The resources that were not to be had. Jobs that need them were put aside.
    pub(super) busy: Vec<String>,
}

impl PgStore {
    /// Acquires the resources of the rows that were taken; puts back those that do not get theirs.
    pub(super) async fn equip(
        &self,
        tx: &mut Transaction<'_, Postgres>,
        request: &ClaimRequest,
        taken: Vec<Taken>,
        owners: &HashMap<i64, OwnerToken>,
    ) -> Result<Equipped, sqlx::Error> {
        let mut takings = Takings::of(request, taken);
        let statements = &self.statements;
        let mut wanted = takings.wanted();
        let inherited = takings.inherited(owners);
        if !inherited.is_empty() {
            let (names, before): (Vec<Acquire>, Vec<OwnerToken>) = inherited.into_iter().unzip();
            let before = before.iter().map(|owner| owner.as_str().to_owned());
            let names: Vec<&Acquire> = names.iter().collect();
            let before = More::Before(before.collect());
            for (name, key) in statements
                .take(tx, &statements.inherit, &names, before)
                .await?
            {
                wanted.retain(|wanted| wanted.name != name);
                takings.grant(name, key);
            }
        }
        if !wanted.is_empty() {
            for (name, key) in statements.acquire_in(tx, &wanted).await? {
                takings.grant(name, key);
            }
        }
        let (claims, losers, busy) = takings.settle();
        if !losers.is_empty() {
            sqlx::query(&statements.put_back)
                .bind(losers)
                .execute(&mut **tx)
                .await?;
            sqlx::query(&statements.park)
                .bind(&busy)
                .bind(PARK_MOST)
                .execute(&mut **tx)
                .await?;
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
    /// These leases were given back, or are not ours any more: whoever waits for their names is told, and the jobs that
    /// are parked for them fall due.
    ///
    /// Outside of the transaction that gave them back, and after it: so does a claim that has parked jobs look again
    /// after its commit. Each writes before it reads, and so one of the two sees the other. What fails here is found at
    /// the next sweep, and at the next try of whoever waits.
    pub(super) async fn free(&self, connection: &mut PgConnection, leases: &[i64]) {
        let told: Result<i64, _> = sqlx::query_scalar(&self.free)
            .bind(leases)
            .bind(&self.lease_channel)
            .bind(&self.channel)
            .fetch_one(connection)
            .await;
        noted(told);
    }

    /// The same for names that may be given back by the thousand and that nobody waits for, as a rule: a look that
    /// writes nothing comes first, and nobody is told of a name whom the look does not see. Whoever takes a place in the
    /// line in this very moment, having seen the name held before, looks again when it has it.
    pub(super) async fn free_awaited(&self, connection: &mut PgConnection, leases: &[i64]) {
        let awaited = sqlx::query_scalar(&self.awaited)
            .bind(leases)
            .fetch_all(&mut *connection)
            .await;
        match awaited {
            Ok(awaited) if awaited.is_empty() => {}
            Ok(awaited) => self.free(connection, &awaited).await,
            Err(error) => drop(noted(Err(error))),
        }
    }

    pub(super) async fn free_names(&self, connection: &mut PgConnection, names: &[&str]) {
        let told: Result<i64, _> = sqlx::query_scalar(&self.free_names)
            .bind(names)
            .bind(&self.lease_channel)
            .bind(&self.channel)
            .fetch_one(connection)
            .await;
        noted(told);
    }

    /// The names that a claim has found busy. Answers whether one of them is free by now, and work for the caller.
    pub(super) async fn unpark(&self, connection: &mut PgConnection, names: &[String]) -> bool {
        let unparked = sqlx::query_scalar(&self.unpark)
            .bind(names)
            .fetch_one(&mut *connection)
            .await;
        noted(unparked) > 0
    }

    pub(super) async fn sweep(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        let unparked: i64 = sqlx::query_scalar(&self.sweep)
            .fetch_one(&mut *connection)
            .await?;
        if unparked > 0 {
            announce::work(connection, self).await?;
        }
        Ok(())
    }
}

fn noted(told: Result<i64, sqlx::Error>) -> i64 {
    told.unwrap_or_else(|error| {
        tracing::debug!("those who wait for names are not told: {error}");
        0
    })
}
