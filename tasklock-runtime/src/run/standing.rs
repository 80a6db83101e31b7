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
use crate::task::{Definition, micros};

/// Creates or updates the standing job of each task.
pub(super) async fn declare(store: &dyn Store, registry: &Registry) -> Result<(), StoreError> {
    let now = store.now().await?;
    let tasks = registry.iter().map(|task| &task.definition);
    let tasks = tasks.filter(|task| has_one(task));
    let declarations: Vec<_> = tasks.map(|task| declaration(task, now)).collect();
    store.declare(&declarations).await
}

/// Declares the tasks whose standing job is missing; answers how many.
///
/// They fall due after their ttl, no earlier: a run whose row has gone goes on until it learns of it, and
/// does so within the ttl.
pub(super) async fn restore(store: &dyn Store, registry: &Registry) -> Result<usize, StoreError> {
    let mut missing = Vec::new();
    for task in registry.iter().filter(|task| has_one(&task.definition)) {
        if store.standing(task.definition.name).await?.is_none() {
            missing.push(&task.definition);
        }
    }
    if missing.is_empty() {
        return Ok(0);
    }
    let now = store.now().await?;
    let declarations: Vec<_> = missing
        .into_iter()
        .map(|task| {
            let declared = declaration(task, now);
            let earliest = now.saturating_add(micros(task.timing().ttl));
            Declaration {
                if_new: declared.if_new.map(|due| due.max(earliest)),
                ..declared
            }
        })
        .collect();
    store.declare(&declarations).await?;
    Ok(declarations.len())
}

/// Whether the store knows of nothing that will happen, and yet a task has a schedule.
pub(super) fn is_gone(registry: &Registry, wait: Option<Duration>) -> bool {
    let scheduled = |task: &Definition| task.schedule.first(0).is_some();
    wait.is_none() && registry.iter().any(|task| scheduled(&task.definition))
}

/// A task that needs a payload has nothing to run by itself.
fn has_one(task: &Definition) -> bool {
    !task.has_payload()
}

fn declaration(task: &Definition, now: i64) -> Declaration {
    Declaration {
        task: task.name.to_owned(),
        schedule: task.schedule.to_string(),
        if_new: task.schedule.first(now),
        if_changed: task.schedule.changed(now),
        resource: task.resource.map(str::to_owned),
    }
}
