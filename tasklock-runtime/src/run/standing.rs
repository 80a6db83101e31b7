//! The standing jobs of this program's tasks: one each, but for tasks that need a payload, which only enqueued
//! jobs have.
//!
//! They are declared at the start. Where they go from the store while workers run (somebody deletes the
//! rows, or drops the tables and makes them anew), the workers bring them back: at the first look at which
//! the store knows of nothing that will ever happen to tasks that have a schedule, after the tables
//! were missing, and within two minutes where only some rows have gone. Only what is missing is declared then: what is there may be another version's, whose
//! schedule is not ours to change but at a start. A task whose row goes by a newer name is not missing while that is
//! served (`store/declaring.rs`).

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::registry::Registry;
use crate::error::StoreError;
use crate::store::{Declaration, Store};
use crate::task::{Definition, Next, Plan, micros};

/// How often each worker looks whether they are there; by chance up to half as much earlier or later.
const LOOK: Duration = Duration::from_secs(60);
const CALL: Duration = Duration::from_secs(5);
/// How often a start may find that an instant has come while it was waiting to write it.
const TRIES: usize = 10;

/// Creates or updates the standing job of each task.
pub(super) async fn declare(
    store: &dyn Store,
    registry: &Registry,
    version: Option<&str>,
) -> Result<(), StoreError> {
    for _ in 0..TRIES {
        let now = store.now().await?;
        let declarations: Vec<_> = declarations(registry, now)
            .map(|(task, declared)| Declaration {
                version: version.filter(|_| task.runs_on_start()).map(str::to_owned),
                ..declared
            })
            .collect();
        if store.declare(&declarations).await? {
            return Ok(());
        }
    }
    tracing::warn!(
        "a schedule that has changed could not be written in time, and is so at the next start"
    );
    Ok(())
}

/// Declares the tasks whose standing job is missing; answers how many. Keeps the former names of tasks that were renamed.
///
/// They fall due after their ttl, no earlier: a run whose row has gone goes on until it learns of it, and
/// does so within the ttl.
pub(super) async fn restore(store: &dyn Store, registry: &Registry) -> Result<usize, StoreError> {
    // When anything is due is asked only if something is missing: hardly ever.
    let known = declarations(registry, 0).map(|(_, declared)| declared);
    let missing = store.tend(&known.collect::<Vec<_>>()).await?;
    if missing.is_empty() {
        return Ok(0);
    }
    let now = store.now().await?;
    let declarations: Vec<_> = declarations(registry, now)
        .filter(|(_, declared)| missing.contains(&declared.task))
        .map(|(task, declared)| {
            let earliest = now.saturating_add(micros(task.timing().ttl));
            let if_new = match declared.if_new {
                Next::At { slot, due } => Next::At {
                    slot,
                    due: due.max(earliest),
                },
                other => other,
            };
            Declaration {
                if_new,
                restores: true,
                ..declared
            }
        })
        .collect();
    store.declare(&declarations).await?;
    Ok(declarations.len())
}

/// Does so for ever; at once where jobs may wait under a former name.
pub(super) async fn look_after(store: Arc<dyn Store>, registry: Arc<Registry>) {
    let mut is_first = registry
        .iter()
        .any(|task| !task.definition.former_names().is_empty());
    loop {
        let jitter = f64::from(getrandom::u32().unwrap_or(0)) / f64::from(u32::MAX);
        if !std::mem::take(&mut is_first) {
            sleep(LOOK.mul_f64(0.5 + jitter)).await;
        }
        match timeout(CALL, restore(&*store, &registry)).await {
            Ok(Ok(0)) => {}
            Ok(Ok(restored)) => {
                tracing::warn!(
                    restored,
                    "the jobs of these tasks were missing, and are there again"
                );
            }
            Ok(Err(error)) => tracing::debug!("tasks are not looked after, later again: {error}"),
            Err(_) => tracing::debug!("tasks are not looked after, later again: no answer"),
        }
    }
}

/// Whether the store knows of nothing that will happen, and yet a task has a schedule.
pub(super) fn is_gone(registry: &Registry, wait: Option<Duration>) -> bool {
    wait.is_none() && with_one(registry).any(|(_, plan)| plan.is_scheduled())
}

/// The tasks with a standing job. One that needs a payload has nothing to run by itself.
fn with_one(registry: &Registry) -> impl Iterator<Item = (&'static Definition, &Plan)> {
    let tasks = registry
        .iter()
        .map(|task| (&task.definition, registry.plan(task)));
    tasks
        .filter_map(|(task, plan)| Some((task, &**plan?)))
        .filter(|(task, _)| !task.has_payload())
}

/// What there is to say of all tasks: one without a standing job may have had another name.
fn declarations(
    registry: &Registry,
    now: i64,
) -> impl Iterator<Item = (&'static Definition, Declaration)> {
    let tasks = registry.iter().filter_map(move |task| {
        let (plan, task) = (registry.plan(task)?, &task.definition);
        let former = task.former_names().iter();
        let declared = Declaration {
            if_new: plan.first(now),
            resource: task.resource.map(str::to_owned),
            aliases: former.map(|&name| name.to_owned()).collect(),
            standing: !task.has_payload(),
            asked_at: now,
            ..Declaration::new(task.name, plan.text(), plan.changed(now))
        };
        Some((task, declared))
    });
    tasks.filter(|(_, declared)| declared.standing || !declared.aliases.is_empty())
}
