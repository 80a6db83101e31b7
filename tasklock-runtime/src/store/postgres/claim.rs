//! The claim, one try: what has expired first, then what is due.

use std::collections::HashMap;

use sqlx::postgres::PgRow;
use sqlx::{Connection, Postgres, Transaction};

use super::micros::Micros;
use super::resources::Equipped;
use super::statements::BEGIN;
use super::{PgStore, announce, column, rows};
use crate::fault;
use crate::lease::OwnerToken;
use crate::store::sql::Taken;
use crate::store::{ClaimBatch, ClaimRequest, Wanted, span};
use crate::task::micros;

/// A claim of so many rows is one of a stream of them.
const MANY: usize = 8;

impl PgStore {
    pub(super) async fn claim_once(
        &self,
        request: &ClaimRequest,
    ) -> Result<ClaimBatch, sqlx::Error> {
        let tasks: Vec<&str> = request.tasks.iter().map(|wanted| &*wanted.task).collect();
        let queues: Vec<&str> = request.tasks.iter().map(|wanted| &*wanted.queue).collect();
        let ttls: Vec<i64> = request
            .tasks
            .iter()
            .map(|wanted| micros(wanted.ttl))
            .collect();
        let most = |wanted: &Wanted| wanted.most.map(i64::from);
        let limits: Vec<Option<i64>> = request.tasks.iter().map(most).collect();
        let token = request.token.as_str();
        let mut connection = self.checkout().await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        fault::at("claim begun");

        let suspect = |wanted: &Wanted| i64::from(wanted.suspect_from);
        let suspects: Vec<i64> = request.tasks.iter().map(suspect).collect();
        if request.sweep {
            self.statements.sweep(&mut tx).await?;
        }
        let mut taken = Vec::new();
        let mut shown = None;
        let mut expired: Vec<(i64, Option<String>)> = Vec::new();
        if !request.quick {
            expired = sqlx::query_as(&self.statements.lock_expired)
                .bind(&tasks)
                .bind(&queues)
                .bind(i64::try_from(request.limit).unwrap_or(i64::MAX))
                .bind(suspects)
                .bind(i64::try_from(request.suspects).unwrap_or(i64::MAX))
                .fetch_all(&mut *tx)
                .await?;
        }
        let owner = |owner: &Option<String>| owner.as_deref().map(OwnerToken::from_stored);
        let owners = expired.iter();
        let owners: HashMap<i64, OwnerToken> = owners
            .filter_map(|(id, before)| Some((*id, owner(before)?)))
            .collect();
        if !expired.is_empty() {
            let ids: Vec<i64> = expired.iter().map(|(id, _)| *id).collect();
            let rows = sqlx::query(&self.statements.take_expired)
                .bind(&tasks)
                .bind(&ttls)
                .bind(ids)
                .bind(token)
                .bind(&request.worker)
                .fetch_all(&mut *tx)
                .await?;
            taken = self::taken(&rows, &request.token, true)?;
        }
        let left = request.limit.saturating_sub(taken.len());
        if left > 0 {
            let locked = self.lock_limited(&mut tx, request).await?;
            let rows = sqlx::query(&self.statements.claim_due)
                .bind(&tasks)
                .bind(&queues)
                .bind(&limits)
                .bind(&locked)
                .bind(&ttls)
                .bind(i64::try_from(left).unwrap_or(i64::MAX))
                .bind(token)
                .bind(&request.worker)
                .fetch_all(&mut *tx)
                .await?;
            if !rows.is_empty() {
                fault::at("due rows claimed");
            }
            // Where it took all that it could, there is more, as a rule: no need to ask when.
            let full = rows.len() == left && left >= MANY;
            let full = rows.last().filter(|_| full || request.quick);
            let now = |row| column::<Micros>(row, "now").map(|now| now.0);
            shown = full.map(now).transpose()?;
            taken.extend(self::taken(&rows, &request.token, false)?);
        }
        let Equipped { claims, busy } = self.equip(&mut tx, request, taken, &owners).await?;
        let (now, mut wait): (i64, Option<i64>) = match shown {
            Some(now) => (now, Some(0)),
            None => {
                let tell = request.tell.filter(|_| !claims.is_empty());
                sqlx::query_as(&self.statements.next_event)
                    .bind(&tasks)
                    .bind(&queues)
                    .bind(&limits)
                    .bind(&self.statements.channel)
                    .bind(tell.map(announce::looked))
                    .fetch_one(&mut *tx)
                    .await?
            }
        };
        fault::at("claim to be committed");
        tx.commit().await?;
        if !busy.is_empty() && self.statements.unpark(&mut connection, &busy).await {
            wait = Some(0);
        }
        connection.done();
        Ok(ClaimBatch {
            now,
            claims,
            wait: wait.map(span),
            parked: !busy.is_empty(),
        })
    }

    /// Locks the tasks whose runs are limited, so that this claim alone counts them; answers which.
    async fn lock_limited(
        &self,
        tx: &mut Transaction<'_, Postgres>,
        request: &ClaimRequest,
    ) -> Result<Vec<String>, sqlx::Error> {
        let limited = request.tasks.iter().filter(|wanted| wanted.most.is_some());
        let limited: Vec<&str> = limited.map(|wanted| &*wanted.task).collect();
        if limited.is_empty() {
            return Ok(Vec::new());
        }
        sqlx::query_scalar(&self.statements.lock_limited)
            .bind(limited)
            .fetch_all(&mut **tx)
            .await
    }
}

fn taken(rows: &[PgRow], token: &OwnerToken, takeover: bool) -> Result<Vec<Taken>, sqlx::Error> {
    rows.iter()
        .map(|row| rows::taken(row, token, takeover))
        .collect()
}
