//! A look at what waits, without a lock: what there is of each task, and the priorities that wait in it.

use std::collections::HashSet;

use sqlx::MySqlConnection;
use sqlx::mysql::MySqlRow;

use super::column;
use super::statements::{LIST, RENEWED_EACH, RENEWED_OF, Statements, list};
use crate::store::sql::json::{batch, wanted};
use crate::store::{ClaimRequest, Wanted};

/// Of so many priorities at once the next ones are asked for.
const UNION: usize = 100;

/// What there is of a task that is not paused.
pub(super) struct Waiting<'a> {
    pub(super) wanted: &'a Wanted,
    /// How many more runs may start, if that is limited.
    pub(super) room: Option<i64>,
    /// The end of the next hold.
    held: Option<i64>,
    /// The first run in the order of what their own rows say; and the first that has not been renewed since. No run behind that
    /// one expires before it does, so that those before it are all that have to be looked at.
    oldest: Option<i64>,
    unrenewed: Option<i64>,
    expires: Option<i64>,
    parked: bool,
    /// The highest priority that waits.
    lane: Option<i16>,
}

/// One priority of a task.
pub(super) struct Lane {
    pub(super) task: String,
    pub(super) priority: i16,
    /// When its first row is due; `None` if no claim takes any.
    pub(super) due: Option<i64>,
}

/// What was seen at an instant.
pub(super) struct Look<'a> {
    pub(super) now: i64,
    pub(super) tasks: Vec<Waiting<'a>>,
    /// Of the tasks that have room.
    pub(super) lanes: Vec<Lane>,
}

impl Look<'_> {
    /// When something can happen next. Where a task is at its limit, that is the end of a place's hold; the end of a run is
    /// told. Whoever holds the resource of a parked job may have died: somebody has to look.
    pub(super) fn next_event(&self) -> Option<i64> {
        let of_task = |waiting: &Waiting<'_>| {
            let full = waiting.room.is_some_and(|room| room <= 0);
            let held = waiting.held.filter(|_| full);
            let sweep = waiting.parked.then_some(self.now + 1_000_000);
            [held, waiting.expires, sweep].into_iter().flatten().min()
        };
        let tasks = self.tasks.iter().filter_map(of_task);
        tasks
            .chain(self.lanes.iter().filter_map(|lane| lane.due))
            .min()
    }

    /// The tasks of which a run has expired.
    pub(super) fn expired(&self) -> Vec<&Wanted> {
        let expired = |waiting: &&Waiting<'_>| waiting.expires.is_some_and(|at| at <= self.now);
        let tasks = self.tasks.iter().filter(expired);
        tasks.map(|waiting| waiting.wanted).collect()
    }

    pub(super) fn has_parked(&self) -> bool {
        self.tasks.iter().any(|waiting| waiting.parked)
    }
}

impl Statements {
    pub(super) async fn look_for_work<'a>(
        &self,
        connection: &mut MySqlConnection,
        request: &'a ClaimRequest,
    ) -> Result<Look<'a>, sqlx::Error> {
        let rows = sqlx::query(&self.tasks)
            .bind(wanted(&request.tasks))
            .fetch_all(&mut *connection)
            .await?;
        let mut now = None;
        let mut tasks = Vec::new();
        for row in &rows {
            now = Some(column(row, "now")?);
            if !column::<bool>(row, "paused")? {
                tasks.extend(waiting(row, request)?);
            }
        }
        let now = match now {
            Some(now) => now,
            None => {
                sqlx::query_scalar(&self.now)
                    .fetch_one(&mut *connection)
                    .await?
            }
        };
        self.count_holds(connection, &mut tasks).await?;
        self.see_renewed(connection, &mut tasks).await?;
        let lanes = self.lanes(connection, &tasks).await?;
        Ok(Look { now, tasks, lanes })
    }

    /// After the runs: one that ends in between counts twice, and not for nothing.
    async fn count_holds(
        &self,
        connection: &mut MySqlConnection,
        tasks: &mut [Waiting<'_>],
    ) -> Result<(), sqlx::Error> {
        let limited = tasks.iter().filter(|waiting| waiting.room.is_some());
        let limited: Vec<&str> = limited.map(|waiting| &*waiting.wanted.task).collect();
        let mut holds: Vec<(String, i64)> = Vec::new();
        for chunk in limited.chunks(LIST) {
            let mut query = sqlx::query_as(self.holds.with(&list(chunk.len())));
            for task in chunk {
                query = query.bind(*task);
            }
            holds.extend(query.fetch_all(&mut *connection).await?);
        }
        for waiting in tasks {
            let own = holds
                .iter()
                .filter(|(task, _)| *task == waiting.wanted.task);
            let own: Vec<i64> = own.map(|(_, until)| *until).collect();
            let places = i64::try_from(own.len()).unwrap_or(i64::MAX);
            waiting.room = waiting.room.map(|room| room.saturating_sub(places));
            waiting.held = own.into_iter().min();
        }
        Ok(())
    }

    /// When the next run expires, renewals included.
    async fn see_renewed(
        &self,
        connection: &mut MySqlConnection,
        tasks: &mut [Waiting<'_>],
    ) -> Result<(), sqlx::Error> {
        let bound = |waiting: &Waiting<'_>| waiting.unrenewed.unwrap_or(i64::MAX);
        let renewed = tasks
            .iter()
            .filter(|waiting| waiting.oldest != waiting.unrenewed);
        let renewed: Vec<(&str, i64)> = renewed
            .map(|waiting| (&*waiting.wanted.task, bound(waiting)))
            .collect();
        let mut expires: Vec<(String, i64)> = Vec::new();
        for chunk in renewed.chunks(LIST) {
            let places = vec![RENEWED_OF; chunk.len()].join(" OR ");
            let mut query = sqlx::query_as(self.renewed.with(&format!("{places}{RENEWED_EACH}")));
            for (task, before) in chunk {
                query = query.bind(*task).bind(*before);
            }
            expires.extend(query.fetch_all(&mut *connection).await?);
        }
        for waiting in tasks {
            let own = expires
                .iter()
                .filter(|(task, _)| *task == waiting.wanted.task);
            waiting.expires = own.map(|(_, at)| *at).chain(waiting.unrenewed).min();
        }
        Ok(())
    }

    async fn lanes(
        &self,
        connection: &mut MySqlConnection,
        tasks: &[Waiting<'_>],
    ) -> Result<Vec<Lane>, sqlx::Error> {
        let with_room = tasks
            .iter()
            .filter(|waiting| waiting.room.is_none_or(|room| room > 0));
        let top = |waiting: &Waiting<'_>| Some((waiting.wanted.task.clone(), waiting.lane?));
        let mut all: Vec<(String, i16)> = with_room.filter_map(top).collect();
        let mut last = all.clone();
        while !last.is_empty() {
            let mut next: Vec<(String, i16)> = Vec::new();
            for chunk in last.chunks(UNION) {
                let union = self.next_lane.repeated(chunk.len(), " UNION ALL ");
                let mut query = sqlx::query_as(union);
                for (task, priority) in chunk {
                    query = query.bind(task).bind(priority);
                }
                next.extend(query.fetch_all(&mut *connection).await?);
            }
            all.extend(next.iter().cloned());
            last = next;
        }
        if all.is_empty() {
            return Ok(Vec::new());
        }
        let rows: Vec<(String, i64, Option<i64>)> = sqlx::query_as(&self.lane_due)
            .bind(batch(&all, |lane| lane))
            .fetch_all(connection)
            .await?;
        let lane = |(task, priority, due)| {
            let priority = i16::try_from(priority).ok()?;
            Some(Lane {
                task,
                priority,
                due,
            })
        };
        Ok(rows.into_iter().filter_map(lane).collect())
    }
}

fn waiting<'a>(
    row: &MySqlRow,
    request: &'a ClaimRequest,
) -> Result<Option<Waiting<'a>>, sqlx::Error> {
    let task: &str = column(row, "task")?;
    let Some(wanted) = request.tasks.iter().find(|wanted| wanted.task == task) else {
        return Ok(None);
    };
    let running: Option<i64> = column(row, "running")?;
    let room = wanted.most.map(i64::from).zip(running);
    Ok(Some(Waiting {
        wanted,
        room: room.map(|(most, running)| most - running),
        held: None,
        oldest: column(row, "oldest")?,
        unrenewed: column(row, "unrenewed")?,
        expires: None,
        parked: column(row, "parked")?,
        lane: column(row, "lane")?,
    }))
}

/// The tasks whose rows may be taken, but for limited ones that others are counting.
pub(super) fn countable<'a>(look: &Look<'a>, locked: &HashSet<String>) -> Vec<&'a Wanted> {
    let may =
        |waiting: &&Waiting<'_>| waiting.room.is_none() || locked.contains(&waiting.wanted.task);
    let tasks = look.tasks.iter().filter(may);
    tasks.map(|waiting| waiting.wanted).collect()
}
