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

/// Declares the tasks whose standing job is missing; answers how many. Keeps the former names of tasks that were renamed.
///
/// They fall due after their ttl, no earlier: a run whose row has gone goes on until it learns of it, and
/// does so within the ttl.
pub(super) async fn restore(store: &dyn Store, registry: &Registry) -> Result<usize, StoreError> {
    // When anything is due is asked only if something is missing: hardly ever.
    let known = with_one(registry).map(|(task, plan)| declaration(task, plan, 0));
    let missing = store.tend(&known.collect::<Vec<_>>()).await?;
    if missing.is_empty() {
        return Ok(0);
    }
    let now = store.now().await?;
    let declarations: Vec<_> = with_one(registry)
        .filter(|(task, _)| missing.iter().any(|name| name == task.name))
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
