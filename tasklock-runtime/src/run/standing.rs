//! The standing jobs of this program's tasks: one each, but for tasks that need a payload, which only enqueued
//! jobs have.
//!
//! They are declared at the start. Where they go from the store while workers run (somebody deletes the
//! rows, or drops the tables and makes them anew), the workers bring them back: at the first look at which
//! the store knows of nothing that will ever happen to tasks that have a schedule, and after the tables
//! were missing. Only what is missing is declared then: what is there may be another version's, whose
//! schedule is not ours to change but at a start. Where only some rows have gone, the next start brings
//! them back.

use std::time::Duration;

use super::registry::Registry;
use crate::error::StoreError;
use crate::store::{Declaration, Store};
use crate::task::{Definition, Next, Plan, micros};

/// Creates or updates the standing job of each task.
pub(super) async fn declare(
    store: &dyn Store,
    registry: &Registry,
    version: Option<&str>,
) -> Result<(), StoreError> {
    let now = store.now().await?;
    let declarations: Vec<_> = with_one(registry)
        .map(|(task, plan)| Declaration {
            version: version.filter(|_| task.runs_on_start()).map(str::to_owned),
            ..declaration(task, plan, now)
        })
        .collect();
    store.declare(&declarations).await
}

/// Declares the tasks whose standing job is missing; answers how many.
///
/// They fall due after their ttl, no earlier: a run whose row has gone goes on until it learns of it, and
/// does so within the ttl.
pub(super) async fn restore(store: &dyn Store, registry: &Registry) -> Result<usize, StoreError> {
    let mut missing = Vec::new();
    for (task, plan) in with_one(registry) {
        if store.standing(task.name).await?.is_none() {
            missing.push((task, plan));
        }
    }
    if missing.is_empty() {
        return Ok(0);
    }
    let now = store.now().await?;
    let declarations: Vec<_> = missing
        .into_iter()
        .map(|(task, plan)| {
            let earliest = now.saturating_add(micros(task.timing().ttl));
            let declared = declaration(task, plan, now);
            let if_new = match declared.if_new {
                Next::At { slot, due } => Next::At {
                    slot,
                    due: due.max(earliest),
                },
                other => other,
            };
            Declaration { if_new, ..declared }
        })
        .collect();
    store.declare(&declarations).await?;
    Ok(declarations.len())
}

/// Whether the store knows of nothing that will happen, and yet a task has a schedule.
pub(super) fn is_gone(registry: &Registry, wait: Option<Duration>) -> bool {
    wait.is_none() && with_one(registry).any(|(_, plan)| plan.is_scheduled())
}

/// The tasks with a standing job. One that needs a payload has nothing to run by itself.
fn with_one(registry: &Registry) -> impl Iterator<Item = (&'static Definition, &Plan)> {
    let tasks = registry
        .iter()
        .filter(|task| !task.definition.has_payload());
    tasks.filter_map(|task| Some((&task.definition, &**registry.plan(task)?)))
}

fn declaration(task: &Definition, plan: &Plan, now: i64) -> Declaration {
    Declaration {
        task: task.name.to_owned(),
        schedule: plan.text().to_owned(),
        if_new: plan.first(now),
        if_changed: plan.changed(now),
        resource: task.resource.map(str::to_owned),
        aliases: task
            .former_names()
            .iter()
            .map(|&name| name.to_owned())
            .collect(),
        version: None,
    }
}
