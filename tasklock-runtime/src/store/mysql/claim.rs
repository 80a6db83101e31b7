//! The claim, one try: what has expired first, then what is due.

use std::collections::{HashMap, HashSet};

use sqlx::{Connection, MySql, MySqlConnection, Transaction};

use super::MySqlStore;
use super::lanes::{Lane, Look, countable};
use super::resources::Equipped;
use super::rows::Locked;
use super::statements::BEGIN;
use crate::fault;
use crate::store::sql::Text;
use crate::store::sql::json::batch;
use crate::store::{ClaimBatch, ClaimRequest, between};
use crate::task::micros;

/// A claim of so many rows is one of a stream of them.
const MANY: usize = 8;
/// The first rows of so many priorities are looked at by one statement.
const UNION: usize = 100;

impl MySqlStore {
    pub(super) async fn claim_once(
        &self,
        request: &ClaimRequest,
    ) -> Result<ClaimBatch, sqlx::Error> {
        let mut connection = self.checkout().await?;
        let statements = &self.statements;
        let seen = statements.look_for_work(&mut connection, request).await?;
        let at = seen.next_event();
        let sweep = request.sweep && seen.has_parked();
        if !sweep && at.is_none_or(|at| at > seen.now) {
            connection.done();
            return Ok(ClaimBatch {
                now: seen.now,
                claims: Vec::new(),
                wait: at.map(|at| between(seen.now, at)),
                parked: false,
            });
        }
        let limited = self.know_limited(&mut connection, request).await?;
        let mut tx = connection.begin_with(BEGIN).await?;
        fault::at("claim begun");
        if sweep {
            statements.sweep(&mut tx).await?;
        }
        let (mut taken, owners) = if request.quick {
            (Vec::new(), HashMap::new())
        } else {
            self.take_over(&mut tx, request, &seen).await?
        };
        let left = request.limit.saturating_sub(taken.len());
        let mut shown = None;
        if left > 0 {
            let mut locked = HashSet::new();
            let mut seen = seen;
            if !limited.is_empty() {
                locked = self.lock_limited(&mut tx, &limited).await?;
            }
            // By a look that is newer than these locks.
            if sweep || !limited.is_empty() {
                seen = statements.look_for_work(&mut tx, request).await?;
            }
            let rows = self
                .claim_due(&mut tx, request, &seen, &locked, left)
                .await?;
            if !rows.is_empty() {
                fault::at("due rows claimed");
            }
            // Where it took all that it could, there is more, as a rule: no need to ask when.
            let full = rows.len() == left && left >= MANY;
            shown = rows
                .last()
                .filter(|_| full || request.quick)
                .map(|row| row.now);
            taken.extend(rows.into_iter().map(Locked::taken));
        }
        let Equipped { claims, busy } = self.equip(&mut tx, request, taken, &owners).await?;
        let (now, mut at) = match shown {
            Some(now) => (now, Some(now)),
            None => {
                let look = statements.look_for_work(&mut tx, request).await?;
                (look.now, look.next_event())
            }
        };
        fault::at("claim to be committed");
        tx.commit().await?;
        if !busy.is_empty() && statements.unpark_names(&mut connection, busy.clone()).await {
            at = Some(now);
        }
        connection.done();
        Ok(ClaimBatch {
            now,
            claims,
            wait: at.map(|at| between(now, at)),
            parked: !busy.is_empty(),
        })
    }

    /// The first rows of all tasks and priorities together, by rank, say how many are taken of each; locked rows are stepped over
    /// within it.
    async fn claim_due(
        &self,
        tx: &mut Transaction<'_, MySql>,
        request: &ClaimRequest,
        seen: &Look<'_>,
        locked: &HashSet<String>,
        limit: usize,
    ) -> Result<Vec<Locked>, sqlx::Error> {
        let countable: HashMap<&str, Option<i64>> = countable(seen, locked)
            .into_iter()
            .map(|wanted| (&*wanted.task, None))
            .collect();
        let mut rooms = countable;
        for waiting in &seen.tasks {
            if let Some(room) = rooms.get_mut(&*waiting.wanted.task) {
                *room = waiting.room;
            }
        }
        let is_due = |lane: &&Lane| {
            rooms.contains_key(&*lane.task) && lane.due.is_some_and(|due| due <= seen.now)
        };
        let lanes: Vec<&Lane> = seen.lanes.iter().filter(is_due).collect();
        // No more than are due: whoever asks for one more locks the first that is not.
        let shares = self.shares(tx, &lanes, rooms, limit).await?;
        let mut rows: Vec<Locked> = Vec::new();
        for (lane, most) in lanes.into_iter().zip(shares).filter(|(_, most)| *most > 0) {
            let found = sqlx::query(&self.statements.lock_due)
                .bind(&lane.task)
                .bind(lane.priority)
                .bind(i64::try_from(most).unwrap_or(i64::MAX))
                .fetch_all(&mut **tx)
                .await?;
            for row in &found {
                rows.push(Locked::of(row, &request.token, false)?);
            }
        }
        self.take(tx, request, &self.statements.claim, &rows)
            .await?;
        Ok(rows)
    }

    /// How many rows are taken of each of these. The look locks nothing, so a row that somebody has locked has its share, and that
    /// stays empty: to know better, each row would have to be locked to be counted.
    async fn shares(
        &self,
        tx: &mut MySqlConnection,
        lanes: &[&Lane],
        mut rooms: HashMap<&str, Option<i64>>,
        limit: usize,
    ) -> Result<Vec<usize>, sqlx::Error> {
        let most = i64::try_from(limit).unwrap_or(i64::MAX);
        let numbers = lanes.iter().enumerate();
        let numbers: HashMap<(&str, i16), usize> = numbers
            .map(|(nth, lane)| ((&*lane.task, lane.priority), nth))
            .collect();
        let mut seen: Vec<(i64, usize)> = Vec::new();
        for chunk in lanes.chunks(UNION) {
            let union = self.statements.seen.repeated(chunk.len(), " UNION ALL ");
            let mut query = sqlx::query_as(union);
            for lane in chunk {
                query = query.bind(&lane.task).bind(lane.priority).bind(most);
            }
            let rows: Vec<(String, i16, i64)> = query.fetch_all(&mut *tx).await?;
            seen.extend(rows.iter().filter_map(|(task, priority, due)| {
                let nth = numbers.get(&(&**task, *priority))?;
                Some((due - i64::from(*priority) * 1_000_000, *nth))
            }));
        }
        seen.sort_unstable();
        seen.retain(|(_, nth)| match rooms.get_mut(&*lanes[*nth].task) {
            Some(Some(room)) => {
                *room -= 1;
                *room >= 0
            }
            _ => true,
        });
        let mut shares = vec![0; lanes.len()];
        for (_, nth) in seen.into_iter().take(limit) {
            shares[nth] += 1;
        }
        Ok(shares)
    }

    /// Writes rows that are locked.
    pub(super) async fn take(
        &self,
        tx: &mut MySqlConnection,
        request: &ClaimRequest,
        statement: &Text,
        rows: &[Locked],
    ) -> Result<(), sqlx::Error> {
        if rows.is_empty() {
            return Ok(());
        }
        let ttls = request.tasks.iter();
        let ttls: HashMap<&str, i64> = ttls
            .map(|wanted| (&*wanted.task, micros(wanted.ttl)))
            .collect();
        let ttl = |row: &Locked| ttls.get(&*row.task).copied().unwrap_or_default();
        sqlx::query(statement)
            .bind(batch(rows, |row| (row.id, ttl(row), row.begun)))
            .bind(request.token.as_str())
            .bind(&request.worker)
            .execute(&mut *tx)
            .await?;
        let stray = rows.iter().filter(|row| row.has_stray());
        let stray: Vec<i64> = stray.map(|row| row.id).collect();
        let statements = &self.statements;
        statements.by_ids(tx, &statements.drop_beats, &stray).await
    }

    /// The tasks of the request whose runs are limited: each has a row that can be locked from now on.
    async fn know_limited(
        &self,
        connection: &mut MySqlConnection,
        request: &ClaimRequest,
    ) -> Result<Vec<String>, sqlx::Error> {
        let limited = request.tasks.iter().filter(|wanted| wanted.most.is_some());
        let limited: Vec<String> = limited.map(|wanted| wanted.task.clone()).collect();
        let known = self.limited.lock().map(|known| known.clone());
        let known = known.unwrap_or_default();
        let mut unknown: Vec<&String> = limited
            .iter()
            .filter(|task| !known.contains(task))
            .collect();
        unknown.sort();
        unknown.dedup();
        if !unknown.is_empty() {
            let found: Vec<String> = sqlx::query_scalar(&self.statements.known_limited)
                .bind(batch(&unknown, |task| task))
                .fetch_all(&mut *connection)
                .await?;
            let mut missing = unknown.clone();
            missing.retain(|task| !found.contains(task));
            // To write a row that is there is to wait for the claim that has it locked.
            if !missing.is_empty() {
                sqlx::query(&self.statements.know_limited)
                    .bind(batch(&missing, |task| task))
                    .execute(connection)
                    .await?;
            }
            if let Ok(mut known) = self.limited.lock() {
                known.extend(unknown.into_iter().cloned());
            }
        }
        Ok(limited)
    }

    /// Which of these tasks this claim alone counts.
    async fn lock_limited(
        &self,
        tx: &mut MySqlConnection,
        limited: &[String],
    ) -> Result<HashSet<String>, sqlx::Error> {
        let locked: Vec<String> = sqlx::query_scalar(&self.statements.lock_limited)
            .bind(batch(limited, |task| task))
            .fetch_all(tx)
            .await?;
        Ok(locked.into_iter().collect())
    }
}
