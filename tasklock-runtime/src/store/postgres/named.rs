//! Acquiring named leases: one try.

use std::collections::HashMap;

use sqlx::postgres::PgRow;
use sqlx::{Connection, Postgres, Transaction};

use super::statements::BEGIN;
use super::{PgStore, column};
use crate::fault;
use crate::lease::{LeaseKey, OwnerToken};
use crate::store::sql::Text;
use crate::store::{Acquire, Acquired, span};
use crate::task::micros;

impl PgStore {
    pub(super) async fn acquire_once(
        &self,
        wanted: &[Acquire],
    ) -> Result<Vec<Acquired>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        fault::at("claim begun");
        let (mut granted, held) = self.acquire_in(&mut tx, wanted).await?;
        fault::at("claim to be committed");
        tx.commit().await?;
        connection.done();
        let answer = |wanted: &Acquire| match granted.remove(&wanted.name) {
            Some(key) => Acquired::Granted(key),
            None => Acquired::Held(span(held.get(&wanted.name).copied().unwrap_or_default())),
        };
        Ok(wanted.iter().map(answer).collect())
    }

    /// The leases that were free, by their names; and for how long the others are held, in microseconds.
    pub(super) async fn acquire_in(
        &self,
        tx: &mut Transaction<'_, Postgres>,
        wanted: &[Acquire],
    ) -> Result<(HashMap<String, LeaseKey>, HashMap<String, i64>), sqlx::Error> {
        let statements = &self.statements;
        let mut granted: HashMap<String, LeaseKey> = HashMap::new();
        for statement in [&statements.acquire_free, &statements.acquire_new] {
            let missing = missing(wanted, &granted);
            take(tx, statement, &missing, More::Nothing, &mut granted).await?;
        }
        let missing_names: Vec<&str> = names(&missing(wanted, &granted));
        let mut held: HashMap<String, i64> = HashMap::new();
        if !missing_names.is_empty() {
            let expired: Vec<i64> = sqlx::query_scalar(&statements.lock_expired_names)
                .bind(&missing_names)
                .fetch_all(&mut **tx)
                .await?;
            if !expired.is_empty() {
                let missing = missing(wanted, &granted);
                let statement = &statements.take_expired_names;
                take(tx, statement, &missing, More::Ids(expired), &mut granted).await?;
            }
            let left: Vec<(String, Option<i64>)> = sqlx::query_as(&statements.held)
                .bind(names(&missing(wanted, &granted)))
                .fetch_all(&mut **tx)
                .await?;
            held.extend(
                left.into_iter()
                    .filter_map(|(name, left)| Some((name, left?))),
            );
        }
        Ok((granted, held))
    }
}

/// What a statement wants to know besides.
pub(super) enum More {
    Nothing,
    /// Rows that are locked.
    Ids(Vec<i64>),
    /// Who held them before, in the order of the names.
    Before(Vec<String>),
}

fn missing<'a>(wanted: &'a [Acquire], granted: &HashMap<String, LeaseKey>) -> Vec<&'a Acquire> {
    wanted
        .iter()
        .filter(|wanted| !granted.contains_key(&wanted.name))
        .collect()
}

fn names<'a>(wanted: &[&'a Acquire]) -> Vec<&'a str> {
    wanted.iter().map(|wanted| &*wanted.name).collect()
}

pub(super) async fn take(
    tx: &mut Transaction<'_, Postgres>,
    statement: &Text,
    wanted: &[&Acquire],
    more: More,
    granted: &mut HashMap<String, LeaseKey>,
) -> Result<(), sqlx::Error> {
    let Some(first) = wanted.first() else {
        return Ok(());
    };
    let mut query = sqlx::query(statement)
        .bind(names(wanted))
        .bind(
            wanted
                .iter()
                .map(|wanted| wanted.owner.as_str())
                .collect::<Vec<_>>(),
        )
        .bind(
            wanted
                .iter()
                .map(|wanted| micros(wanted.ttl))
                .collect::<Vec<_>>(),
        )
        .bind(&first.worker);
    query = match more {
        More::Nothing => query,
        More::Ids(ids) => query.bind(ids),
        More::Before(owners) => query.bind(owners),
    };
    for row in query.fetch_all(&mut **tx).await? {
        granted.insert(column(&row, "name")?, key(&row)?);
    }
    Ok(())
}

fn key(row: &PgRow) -> Result<LeaseKey, sqlx::Error> {
    Ok(LeaseKey {
        job: column(row, "id")?,
        fence: column(row, "fence")?,
        owner: OwnerToken::from_stored(column(row, "owner")?),
    })
}
