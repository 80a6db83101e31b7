//! Acquiring named leases: one try.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::json;
use sqlx::{Connection, SqliteConnection};

use super::statements::BEGIN;
use super::{SqliteStore, batch};
use crate::fault;
use crate::lease::{LeaseKey, OwnerToken};
use crate::store::{Acquire, Acquired, PATIENCE, span};
use crate::task::micros;

/// What stands in the way of an acquisition; by default nothing.
#[derive(Default)]
struct Look {
    /// For how long, if anything does.
    left: Option<Duration>,
    /// Whether our place in the line has to be written.
    stands: bool,
}

/// An acquisition, and whose lease on the name has ended, whatever its row says.
pub(super) type Try<'a> = (&'a Acquire, Option<&'a OwnerToken>);

impl SqliteStore {
    pub(super) async fn acquire_once(
        &self,
        wanted: &[Acquire],
        // All or nothing.
        (): &mut (),
    ) -> Result<Vec<Acquired>, sqlx::Error> {
        let mut connection = self.checkout().await?;
        // What is not to be had is not asked for in writing: the file would change, and whoever waits would be woken by it.
        let mut held = self.look(&mut connection, wanted).await?;
        let mut granted = HashMap::new();
        if held.iter().any(|look| look.stands || look.left.is_none()) {
            let mut tx = connection.begin_with(BEGIN).await?;
            fault::at("claim begun");
            let tries: Vec<Try<'_>> = wanted.iter().map(|wanted| (wanted, None)).collect();
            granted = self.acquire_in(&mut tx, &tries).await?;
            if granted.len() < wanted.len() {
                held = self.look(&mut tx, wanted).await?;
            }
            self.line_up(&mut tx, wanted, &granted, &held).await?;
            fault::at("claim to be committed");
            tx.commit().await?;
        }
        connection.done();
        let mut answer = |(wanted, look): (&Acquire, Look)| match granted.remove(&wanted.name) {
            Some(key) => Acquired::Granted(key),
            None => Acquired::Held(look.left.unwrap_or_default()),
        };
        Ok(wanted.iter().zip(held).map(&mut answer).collect())
    }

    /// In the transaction that writes. Answers the leases by their names.
    pub(super) async fn acquire_in(
        &self,
        connection: &mut SqliteConnection,
        tries: &[Try<'_>],
    ) -> Result<HashMap<String, LeaseKey>, sqlx::Error> {
        let mut granted = HashMap::new();
        if tries.is_empty() {
            return Ok(granted);
        }
        let statements = &self.statements;
        let last: i64 = sqlx::query_scalar(&statements.next_fences)
            .bind(i64::try_from(tries.len()).unwrap_or(i64::MAX))
            .fetch_one(&mut *connection)
            .await?;
        let numbered: Vec<(&Try<'_>, i64)> = tries.iter().rev().zip((1..=last).rev()).collect();
        for statement in [&statements.acquire, &statements.acquire_new] {
            let left = numbered
                .iter()
                .filter(|((wanted, _), _)| !granted.contains_key(&wanted.name));
            let left: Vec<&(&Try<'_>, i64)> = left.collect();
            if left.is_empty() {
                break;
            }
            // To the last row: a statement that is left half-way is not ended.
            let taken: Vec<(i64, i64, String)> = sqlx::query_as(statement)
                .bind(batch(&left, |((wanted, before), fence)| {
                    row(wanted, Some(*fence), *before)
                }))
                .fetch_all(&mut *connection)
                .await?;
            for (job, fence, name) in taken {
                let Some((wanted, _)) = tries.iter().find(|(wanted, _)| wanted.name == name) else {
                    continue;
                };
                let owner = wanted.owner.clone();
                granted.insert(name, LeaseKey { job, fence, owner });
            }
        }
        Ok(granted)
    }

    /// Whoever has a ticket and no lease stands in the line, and whoever has a lease does not.
    async fn line_up(
        &self,
        connection: &mut SqliteConnection,
        wanted: &[Acquire],
        granted: &HashMap<String, LeaseKey>,
        held: &[Look],
    ) -> Result<(), sqlx::Error> {
        let statements = &self.statements;
        let (mut leave, mut stand) = (Vec::new(), Vec::new());
        for (wanted, look) in wanted.iter().zip(held) {
            match &wanted.ticket {
                Some(ticket) if granted.contains_key(&wanted.name) => leave.push(ticket.as_str()),
                Some(ticket) if look.stands => stand.push((&*wanted.name, ticket.as_str())),
                _ => {}
            }
        }
        if !leave.is_empty() {
            self.left(connection, &leave).await?;
        }
        if !stand.is_empty() {
            sqlx::query(&statements.stand)
                .bind(batch(&stand, |place| place))
                .bind(micros(PATIENCE))
                .execute(&mut *connection)
                .await?;
            sqlx::query(&statements.prune_line)
                .execute(connection)
                .await?;
        }
        Ok(())
    }

    /// What stands in the way of each, in the same order.
    async fn look(
        &self,
        connection: &mut SqliteConnection,
        wanted: &[Acquire],
    ) -> Result<Vec<Look>, sqlx::Error> {
        let found: Vec<Found> = sqlx::query_as(&self.statements.look)
            .bind(batch(wanted, |wanted| row(wanted, None, None)))
            .fetch_all(connection)
            .await?;
        let found: HashMap<&str, &Found> = found.iter().map(|found| (&*found.0, found)).collect();
        let look = |wanted: &Acquire| {
            let Some((_, held, first, lasts, place)) = found.get(&*wanted.name) else {
                return Look::default();
            };
            let ticket = wanted.ticket.as_ref().map(OwnerToken::as_str);
            let held = held.filter(|left| *left > 0);
            let ahead = lasts.filter(|_| first.as_deref() != ticket);
            let left = held.or(ahead).map(span);
            let keeps = place.is_some_and(|left| span(left) > PATIENCE / 2);
            Look {
                stands: left.is_some() && ticket.is_some() && !keeps,
                left,
            }
        };
        Ok(wanted.iter().map(look).collect())
    }

    async fn left(
        &self,
        connection: &mut SqliteConnection,
        tickets: &[&str],
    ) -> Result<(), sqlx::Error> {
        sqlx::query(&self.statements.leave)
            .bind(batch(tickets, |ticket| ticket))
            .execute(connection)
            .await
            .map(|_| ())
    }

    pub(super) async fn leave_once(
        &self,
        name: &str,
        ticket: &OwnerToken,
    ) -> Result<(), sqlx::Error> {
        let mut connection = self.checkout().await?;
        self.left(&mut connection, &[ticket.as_str()]).await?;
        sqlx::query(&self.statements.unpark_names)
            .bind(batch(&[name], |name| name))
            .execute(&mut *connection)
            .await?;
        connection.done();
        Ok(())
    }
}

/// The name, for how long it is held; who is first in the line, for how long, and for how long we are in it.
type Found = (
    String,
    Option<i64>,
    Option<String>,
    Option<i64>,
    Option<i64>,
);

fn row(wanted: &Acquire, fence: Option<i64>, before: Option<&OwnerToken>) -> serde_json::Value {
    json!([
        wanted.name,
        wanted.owner.as_str(),
        micros(wanted.ttl),
        fence,
        wanted.ticket.as_ref().map(OwnerToken::as_str),
        before.map(OwnerToken::as_str),
        wanted.worker
    ])
}
