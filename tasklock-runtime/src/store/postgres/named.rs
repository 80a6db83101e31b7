//! Acquiring named leases: one try, of many names.
//!
//! What is there and free, and what nobody waits for, is taken by one statement that waits for nobody: it is all that is
//! sent, as a rule. For the rest comes the statement that also makes new names and places in the line; it waits where
//! somebody else makes the same name in an open transaction. For what has expired then, as far as that one has seen, come the
//! two of a takeover. Each is committed by itself: what it has granted stays granted, whatever becomes of the next one.

use std::collections::HashMap;

use sqlx::postgres::{PgArguments, PgRow};
use sqlx::{Connection, PgConnection, Postgres};

use super::statements::{BEGIN, Statements};
use super::{PgStore, column};
use crate::fault;
use crate::lease::{LeaseKey, OwnerToken};
use crate::store::sql::Text;
use crate::store::{Acquire, Acquired, span};
use crate::task::micros;

/// What the tries of one call have brought.
#[derive(Default)]
pub(super) struct Tried {
    /// The leases by their names. They are committed.
    granted: HashMap<String, LeaseKey>,
    /// Whether a try has failed.
    failed: bool,
}

/// What a statement has found out of those that it did not grant.
#[derive(Default)]
struct Refused {
    /// For how long others have them, in microseconds.
    held: HashMap<String, i64>,
    /// What has expired, as far as is known: it takes a transaction to find out.
    expired: Vec<String>,
}

impl Tried {
    fn rest<'a>(&self, wanted: &'a [Acquire]) -> Vec<&'a Acquire> {
        let is_left = |wanted: &&Acquire| !self.granted.contains_key(&wanted.name);
        wanted.iter().filter(is_left).collect()
    }
}

impl PgStore {
    pub(super) async fn acquire_once(
        &self,
        wanted: &[Acquire],
        tried: &mut Tried,
    ) -> Result<Vec<Acquired>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        fault::at("claim begun");
        let failed = std::mem::replace(&mut tried.failed, true);
        let refused = self
            .acquire_on(&mut connection, wanted, tried, failed)
            .await?;
        tried.failed = false;
        connection.done();
        let mut answer = |wanted: &Acquire| match tried.granted.remove(&wanted.name) {
            Some(key) => Acquired::Granted(key),
            None => Acquired::Held(span(refused.held.get(&wanted.name).copied().unwrap_or(0))),
        };
        Ok(wanted.iter().map(&mut answer).collect())
    }

    async fn acquire_on(
        &self,
        connection: &mut PgConnection,
        wanted: &[Acquire],
        tried: &mut Tried,
        failed: bool,
    ) -> Result<Refused, sqlx::Error> {
        let statements = &self.statements;
        let mut plain = tried.rest(wanted);
        plain.retain(|wanted| wanted.ticket.is_none());
        if !plain.is_empty() && !failed {
            let granted = statements.acquire_free(connection, &plain).await?;
            tried.granted.extend(granted);
        }
        let rest = tried.rest(wanted);
        if rest.is_empty() {
            return Ok(Refused::default());
        }
        let (granted, mut refused) = if failed {
            // Under a stricter default than READ COMMITTED one row that others change fails all of them.
            let mut tx = connection.begin_with(BEGIN).await?;
            let answer = statements.acquire(&mut tx, &rest).await?;
            tx.commit().await?;
            answer
        } else {
            statements.acquire(connection, &rest).await?
        };
        tried.granted.extend(granted);
        self.look_again(connection, wanted, tried, &mut refused)
            .await?;
        if !refused.expired.is_empty() {
            let mut tx = connection.begin_with(BEGIN).await?;
            let taken = statements.take_names(&mut tx, wanted, &refused).await?;
            fault::at("claim to be committed");
            tx.commit().await?;
            tried.granted.extend(taken);
        }
        Ok(refused)
    }

    /// Whoever stands in the line from now on looks whether the name has become free meanwhile: who gave it back has
    /// looked into the line after that was committed, and perhaps before the place in it was.
    async fn look_again(
        &self,
        connection: &mut PgConnection,
        wanted: &[Acquire],
        tried: &mut Tried,
        refused: &mut Refused,
    ) -> Result<(), sqlx::Error> {
        let mut waiting = tried.rest(wanted);
        waiting.retain(|wanted| wanted.ticket.is_some());
        if waiting.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = waiting.iter().map(|wanted| &*wanted.name).collect();
        let free: Vec<String> = sqlx::query_scalar(&self.statements.names_free)
            .bind(names)
            .fetch_all(&mut *connection)
            .await?;
        waiting.retain(|wanted| free.contains(&wanted.name));
        if !waiting.is_empty() {
            let (granted, again) = self.statements.acquire(connection, &waiting).await?;
            tried.granted.extend(granted);
            refused.held.extend(again.held);
        }
        Ok(())
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
    /// What is free, and nobody waits for.
    async fn acquire_free(
        &self,
        connection: &mut PgConnection,
        wanted: &[&Acquire],
    ) -> Result<HashMap<String, LeaseKey>, sqlx::Error> {
        let rows = self.ask(&self.acquire_free, wanted);
        keys(&rows.fetch_all(connection).await?)
    }

    /// Everything but takeovers.
    async fn acquire(
        &self,
        connection: &mut PgConnection,
        wanted: &[&Acquire],
    ) -> Result<(HashMap<String, LeaseKey>, Refused), sqlx::Error> {
        let tickets = wanted.iter().map(|wanted| wanted.ticket.as_ref());
        let tickets: Vec<Option<&str>> = tickets
            .map(|ticket| ticket.map(OwnerToken::as_str))
            .collect();
        let rows = self.ask(&self.acquire, wanted).bind(tickets);
        let (mut granted, mut refused) = (HashMap::new(), Refused::default());
        for row in &rows.fetch_all(connection).await? {
            let name: String = column(row, "name")?;
            if column::<Option<i64>>(row, "id")?.is_some() {
                granted.insert(name, key(row)?);
                continue;
            }
            let left: Option<i64> = column(row, "left_us")?;
            let ahead: bool = column(row, "ahead")?;
            if left.is_some_and(|left| left <= 0) && !ahead {
                refused.expired.push(name.clone());
            }
            refused.held.insert(name, left.unwrap_or(0));
        }
        Ok((granted, refused))
    }

    /// A statement with what is wanted, as one array a column.
    fn ask<'a>(&self, statement: &Text, wanted: &[&'a Acquire]) -> Asking<'a> {
        let wanted = wanted.iter();
        let names: Vec<&str> = wanted.clone().map(|wanted| &*wanted.name).collect();
        let owners: Vec<&str> = wanted.clone().map(|wanted| wanted.owner.as_str()).collect();
        let ttls: Vec<i64> = wanted.clone().map(|wanted| micros(wanted.ttl)).collect();
        let workers: Vec<&str> = wanted.map(|wanted| &*wanted.worker).collect();
        sqlx::query(statement)
            .bind(names)
            .bind(owners)
            .bind(ttls)
            .bind(workers)
    }

    /// Takes what has expired, in two statements.
    async fn take_names(
        &self,
        connection: &mut PgConnection,
        wanted: &[Acquire],
        refused: &Refused,
    ) -> Result<HashMap<String, LeaseKey>, sqlx::Error> {
        let locked: Vec<i64> = sqlx::query_scalar(&self.lock_expired_names)
            .bind(&refused.expired)
            .fetch_all(&mut *connection)
            .await?;
        if locked.is_empty() {
            return Ok(HashMap::new());
        }
        let is_expired = |wanted: &&Acquire| refused.expired.contains(&wanted.name);
        let expired: Vec<&Acquire> = wanted.iter().filter(is_expired).collect();
        let take = &self.take_expired_names;
        let taken = self
            .take(connection, take, &expired, More::Ids(locked))
            .await?;
        let has_it = |wanted: &&Acquire| taken.contains_key(&wanted.name);
        let tickets = expired.into_iter().filter(has_it);
        let tickets = tickets.filter_map(|wanted| wanted.ticket.as_ref());
        let tickets: Vec<&str> = tickets.map(OwnerToken::as_str).collect();
        if !tickets.is_empty() {
            sqlx::query(&self.leave)
                .bind(tickets)
                .execute(connection)
                .await?;
        }
        Ok(taken)
    }

    /// Both, in the caller's transaction.
    pub(super) async fn acquire_in(
        &self,
        connection: &mut PgConnection,
        wanted: &[Acquire],
    ) -> Result<HashMap<String, LeaseKey>, sqlx::Error> {
        let all: Vec<&Acquire> = wanted.iter().collect();
        let (mut granted, refused) = self.acquire(connection, &all).await?;
        if !refused.expired.is_empty() {
            granted.extend(self.take_names(connection, wanted, &refused).await?);
        }
        Ok(granted)
    }

    pub(super) async fn take(
        &self,
        connection: &mut PgConnection,
        statement: &Text,
        wanted: &[&Acquire],
        more: More,
    ) -> Result<HashMap<String, LeaseKey>, sqlx::Error> {
        let query = self.ask(statement, wanted);
        let query = match more {
            More::Ids(ids) => query.bind(ids),
            More::Before(owners) => query.bind(owners),
        };
        keys(&query.fetch_all(connection).await?)
    }
}

type Asking<'a> = sqlx::query::Query<'a, Postgres, PgArguments>;

/// What a statement wants to know besides.
pub(super) enum More {
    /// Rows that are locked.
    Ids(Vec<i64>),
    /// Who held them before, in the order of the names.
    Before(Vec<String>),
}

/// The leases that were granted, by their names.
fn keys(rows: &[PgRow]) -> Result<HashMap<String, LeaseKey>, sqlx::Error> {
    let named = |row: &PgRow| Ok((column(row, "name")?, key(row)?));
    rows.iter().map(named).collect()
}

fn key(row: &PgRow) -> Result<LeaseKey, sqlx::Error> {
    Ok(LeaseKey {
        job: column(row, "id")?,
        fence: column(row, "fence")?,
        owner: OwnerToken::from_stored(column(row, "owner")?),
    })
}
