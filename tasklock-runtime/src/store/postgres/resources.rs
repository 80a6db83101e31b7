//! Claims of jobs that need a second lease.

use std::collections::HashMap;

use sqlx::{PgConnection, Postgres, Transaction};

use super::PgStore;
use super::beat::announce;
use super::named::take;
use super::statements::Statements;
use crate::lease::{LeaseKey, OwnerToken};
use crate::store::sql::{Taken, Takings, Text};
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
        let inherited = takings.inherited(owners);
        if !inherited.is_empty() {
            let (wanted, before): (Vec<Acquire>, Vec<OwnerToken>) = inherited.into_iter().unzip();
            let before = before.iter().map(|owner| owner.as_str().to_owned());
            let mut granted: HashMap<String, LeaseKey> = HashMap::new();
            let wanted: Vec<&Acquire> = wanted.iter().collect();
            let more = super::named::More::Before(before.collect());
            take(tx, &statements.inherit, &wanted, more, &mut granted).await?;
            for (name, key) in granted {
                takings.grant(name, key);
            }
        }
        let mut wanted = takings.wanted();
        wanted.retain(|wanted| !takings.is_granted(&wanted.name));
        if !wanted.is_empty() {
            let (granted, _) = self.acquire_in(tx, &wanted).await?;
            for (name, key) in granted {
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
    /// Of these leases, given back or not ours any more: what waits for their names falls due, if they are free.
    ///
    /// Outside of the transaction that gave them back, and after it: so does a claim that has parked jobs look again
    /// after its commit. Each writes before it reads, and so one of the two sees the other.
    pub(super) async fn unpark(
        &self,
        connection: &mut PgConnection,
        leases: &[i64],
    ) -> Result<(), sqlx::Error> {
        let unparked: i64 = sqlx::query_scalar(&self.unpark)
            .bind(leases)
            .fetch_one(&mut *connection)
            .await?;
        self.tell(connection, unparked).await
    }

    pub(super) async fn unpark_names(
        &self,
        connection: &mut PgConnection,
        names: &[String],
    ) -> Result<(), sqlx::Error> {
        let unparked: i64 = sqlx::query_scalar(&self.unpark_names)
            .bind(names)
            .fetch_one(&mut *connection)
            .await?;
        self.tell(connection, unparked).await
    }

    pub(super) async fn sweep(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        let sweep: &Text = &self.sweep;
        let unparked: i64 = sqlx::query_scalar(sweep)
            .fetch_one(&mut *connection)
            .await?;
        self.tell(connection, unparked).await
    }

    async fn tell(&self, connection: &mut PgConnection, unparked: i64) -> Result<(), sqlx::Error> {
        if unparked > 0 {
            announce(connection, self).await?;
        }
        Ok(())
    }
}
