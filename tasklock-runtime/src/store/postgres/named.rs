//! Acquiring named leases: one try.

use std::collections::HashMap;

use sqlx::postgres::PgRow;
use sqlx::{Connection, PgConnection};

use super::statements::{BEGIN, Statements};
use super::{PgStore, column};
use crate::fault;
use crate::lease::{LeaseKey, OwnerToken};
use crate::store::sql::Text;
use crate::store::{Acquire, Acquired, span};
use crate::task::micros;

/// What a try has brought: leases by their names.
#[derive(Default)]
pub(super) struct Tried {
    pub(super) granted: HashMap<String, LeaseKey>,
    /// For how long others have the rest, in microseconds.
    held: HashMap<String, i64>,
    /// Of the rest, what has expired, as far as is known: it takes a transaction to find out.
    expired: Vec<String>,
}

impl PgStore {
    pub(super) async fn acquire_once(
        &self,
        wanted: &[Acquire],
    ) -> Result<Vec<Acquired>, sqlx::Error> {
        let statements = &self.statements;
        let mut connection = self.checkout().await?;
        fault::at("claim begun");
        let mut tried = statements.acquire(&mut connection, wanted).await?;
        if !tried.expired.is_empty() {
            let mut tx = connection.begin_with(BEGIN).await?;
            statements.take_names(&mut tx, wanted, &mut tried).await?;
            fault::at("claim to be committed");
            tx.commit().await?;
        }
        connection.done();
        let mut answer = |wanted: &Acquire| match tried.granted.remove(&wanted.name) {
            Some(key) => Acquired::Granted(key),
            None => Acquired::Held(span(tried.held.get(&wanted.name).copied().unwrap_or(0))),
        };
        Ok(wanted.iter().map(&mut answer).collect())
    }

    pub(super) async fn leave_once(
        &self,
        name: &str,
        ticket: &OwnerToken,
    ) -> Result<(), sqlx::Error> {
        let mut connection = self.checkout().await?;
        sqlx::query(&self.statements.leave)
            .bind([ticket.as_str()])
            .execute(&mut *connection)
            .await?;
        self.statements.free_names(&mut connection, &[name]).await;
        connection.done();
        Ok(())
    }
}

impl Statements {
    /// Everything but takeovers.
    async fn acquire(
        &self,
        connection: &mut PgConnection,
        wanted: &[Acquire],
    ) -> Result<Tried, sqlx::Error> {
        let mut tried = Tried::default();
        let Some(first) = wanted.first() else {
            return Ok(tried);
        };
        let columns = Columns::of(wanted.iter());
        let tickets = wanted.iter().map(|wanted| wanted.ticket.as_ref());
        let tickets: Vec<Option<&str>> = tickets
            .map(|ticket| ticket.map(OwnerToken::as_str))
            .collect();
        let rows = sqlx::query(&self.acquire)
            .bind(columns.names)
            .bind(columns.owners)
            .bind(columns.ttls)
            .bind(&first.worker)
            .bind(tickets)
            .fetch_all(connection)
            .await?;
        for row in &rows {
            let name: String = column(row, "name")?;
            if column::<Option<i64>>(row, "id")?.is_some() {
                tried.granted.insert(name, key(row)?);
                continue;
            }
            let left: Option<i64> = column(row, "left_us")?;
            let ahead: bool = column(row, "ahead")?;
            if left.is_some_and(|left| left <= 0) && !ahead {
                tried.expired.push(name.clone());
            }
            tried.held.insert(name, left.unwrap_or(0));
        }
        Ok(tried)
    }

    /// Takes what has expired, in two statements.
    async fn take_names(
        &self,
        connection: &mut PgConnection,
        wanted: &[Acquire],
        tried: &mut Tried,
    ) -> Result<(), sqlx::Error> {
        let locked: Vec<i64> = sqlx::query_scalar(&self.lock_expired_names)
            .bind(&tried.expired)
            .fetch_all(&mut *connection)
            .await?;
        if locked.is_empty() {
            return Ok(());
        }
        let is_expired = |wanted: &&Acquire| tried.expired.contains(&wanted.name);
        let expired: Vec<&Acquire> = wanted.iter().filter(is_expired).collect();
        let taken = self.take(
            connection,
            &self.take_expired_names,
            &expired,
            More::Ids(locked),
        );
        tried.granted.extend(taken.await?);
        let has_it = |wanted: &&Acquire| tried.granted.contains_key(&wanted.name);
        let tickets = expired.into_iter().filter(has_it);
        let tickets = tickets.filter_map(|wanted| wanted.ticket.as_ref());
        let tickets: Vec<&str> = tickets.map(OwnerToken::as_str).collect();
        if !tickets.is_empty() {
            sqlx::query(&self.leave)
                .bind(tickets)
                .execute(connection)
                .await?;
        }
        Ok(())
    }

    /// Both, in the caller's transaction.
    pub(super) async fn acquire_in(
        &self,
        connection: &mut PgConnection,
        wanted: &[Acquire],
    ) -> Result<HashMap<String, LeaseKey>, sqlx::Error> {
        let mut tried = self.acquire(connection, wanted).await?;
        if !tried.expired.is_empty() {
            self.take_names(connection, wanted, &mut tried).await?;
        }
        Ok(tried.granted)
    }

    pub(super) async fn take(
        &self,
        connection: &mut PgConnection,
        statement: &Text,
        wanted: &[&Acquire],
        more: More,
    ) -> Result<HashMap<String, LeaseKey>, sqlx::Error> {
        let Some(first) = wanted.first() else {
            return Ok(HashMap::new());
        };
        let columns = Columns::of(wanted.iter().copied());
        let query = sqlx::query(statement)
            .bind(columns.names)
            .bind(columns.owners)
            .bind(columns.ttls)
            .bind(&first.worker);
        let query = match more {
            More::Ids(ids) => query.bind(ids),
            More::Before(owners) => query.bind(owners),
        };
        let rows = query.fetch_all(connection).await?;
        rows.iter()
            .map(|row| Ok((column(row, "name")?, key(row)?)))
            .collect()
    }
}

/// What a statement wants to know besides.
pub(super) enum More {
    /// Rows that are locked.
    Ids(Vec<i64>),
    /// Who held them before, in the order of the names.
    Before(Vec<String>),
}

/// What is wanted, as one array a column.
struct Columns<'a> {
    names: Vec<&'a str>,
    owners: Vec<&'a str>,
    ttls: Vec<i64>,
}

impl<'a> Columns<'a> {
    fn of(wanted: impl Iterator<Item = &'a Acquire> + Clone) -> Self {
        Self {
            names: wanted.clone().map(|wanted| &*wanted.name).collect(),
            owners: wanted.clone().map(|wanted| wanted.owner.as_str()).collect(),
            ttls: wanted.map(|wanted| micros(wanted.ttl)).collect(),
        }
    }
}

fn key(row: &PgRow) -> Result<LeaseKey, sqlx::Error> {
    Ok(LeaseKey {
        job: column(row, "id")?,
        fence: column(row, "fence")?,
        owner: OwnerToken::from_stored(column(row, "owner")?),
    })
}
