//! The tasks that are linked into this program, checked and sorted.

mod mistakes;
mod schedules;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::error::Error;
use crate::task::{Plan, Registration, States};
use schedules::Planned;

type Tasks = BTreeMap<&'static str, &'static Registration>;

/// The tasks of one worker, by name.
#[derive(Debug)]
pub(crate) struct Registry {
    tasks: Tasks,
    /// What the schedule of each says, in this worker.
    plans: BTreeMap<&'static str, Planned>,
}

/// Which of the linked tasks a worker runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    /// These alone, if given.
    pub(crate) only: Option<Names>,
    /// Those of these queues alone, if given.
    pub(crate) queues: Option<Names>,
    /// These must be linked.
    pub(crate) required: Vec<&'static str>,
    /// Schedules in the place of the attributes'; the first for a task counts.
    pub(crate) schedules: Vec<Rescheduled>,
}

/// A schedule in the place of a task's own.
#[derive(Debug, Clone)]
pub(crate) struct Rescheduled {
    pub(crate) task: String,
    pub(crate) schedule: String,
    /// Which option said so.
    pub(crate) from: String,
}

impl Rescheduled {
    /// By the task's name, or by a former one.
    fn is_for(&self, task: &Registration) -> bool {
        let mut former = task.definition.former_names().iter();
        task.definition.name == self.task || former.any(|name| *name == self.task)
    }
}

/// Names that were given, and where.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    pub(crate) names: Vec<String>,
    pub(crate) from: &'static str,
}

impl Names {
    fn contain(&self, name: &str) -> bool {
        self.names.iter().any(|wanted| wanted == name)
    }
}

impl Registry {
    /// Collects what `inventory` has found.
    pub(crate) fn linked(selection: &Selection, states: &States) -> Result<Self, Error> {
        Self::of(inventory::iter::<Registration>, selection, states)
    }

    fn of(
        registrations: impl IntoIterator<Item = &'static Registration>,
        selection: &Selection,
        states: &States,
    ) -> Result<Self, Error> {
        let mut mistakes = Vec::new();
        let mut tasks = collect(registrations, &mut mistakes);
        if tasks.is_empty() {
            return Err(Error::NoTasks);
        }
        schedules::check_former_names(&tasks, &mut mistakes);
        select(&mut tasks, selection, &mut mistakes);
        let missing = tasks
            .values()
            .flat_map(|task| mistakes::missing_states(task, states));
        mistakes.extend(missing);
        let plans = schedules::plans(&tasks, &selection.schedules, &mut mistakes);
        if !mistakes.is_empty() {
            mistakes.sort_unstable();
            return Err(Error::Tasks(mistakes));
        }
        if tasks.is_empty() {
            return Err(nothing_left(selection));
        }
        Ok(Self { tasks, plans })
    }

    /// The names of the tasks that are linked, and their former ones.
    pub(crate) fn linked_names() -> BTreeSet<&'static str> {
        let linked = inventory::iter::<Registration>.into_iter();
        linked
            .flat_map(|task| {
                let former = task.definition.former_names().iter().copied();
                former.chain([task.definition.name])
            })
            .collect()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'static Registration> {
        self.tasks.get(name).copied()
    }

    /// What the schedule of a task says. One that needs a payload has none: a row that was its standing job once waits for a
    /// version that has.
    pub(crate) fn plan(&self, task: &Registration) -> Option<&Arc<Plan>> {
        self.planned(task).map(|planned| &planned.plan)
    }

    fn planned(&self, task: &Registration) -> Option<&Planned> {
        self.plans.get(task.definition.name)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static Registration> {
        self.tasks.values().copied()
    }
}

/// By name; each mistake is told.
fn collect(
    registrations: impl IntoIterator<Item = &'static Registration>,
    mistakes: &mut Vec<String>,
) -> Tasks {
    let mut tasks = Tasks::new();
    for registration in registrations {
        let name = registration.definition.name;
        mistakes.extend(mistakes::of_definition(registration));
        if let Some(other) = tasks.insert(name, registration)
            // The same function twice: a crate that is linked by two paths.
            && other.location != registration.location
        {
            // Which of the two inventory brings first is chance: the message must not be.
            let mut places = [describe(other), describe(registration)];
            places.sort_unstable();
            // From edition 2024 on rustdoc makes one program of a crate's doc tests.
            let merged = other.location.crate_name().starts_with("doctest_bundle");
            let also = if merged {
                ", or mark a doc test as `standalone_crate`"
            } else {
                ""
            };
            mistakes.push(format!(
                "task {name:?} is defined twice, in {} and in {}: give one of them another \
                 `name = \"…\"`{also}",
                places[0], places[1]
            ));
        }
    }
    tasks
}

/// Leaves what is selected; what is named and not there is told.
fn select(tasks: &mut Tasks, selection: &Selection, mistakes: &mut Vec<String>) {
    let linked = tasks.keys().copied().collect::<Vec<_>>().join(", ");
    let unlinked = selection
        .required
        .iter()
        .filter(|name| !tasks.contains_key(*name));
    mistakes.extend(
        unlinked.map(|name| format!("task {name:?} is required but not linked (linked: {linked})")),
    );
    if let Some(only) = &selection.only {
        let unlinked = only
            .names
            .iter()
            .filter(|name| !tasks.contains_key(name.as_str()));
        mistakes.extend(unlinked.map(|name| {
            let from = only.from;
            format!("`{from}` names {name:?}, which is not linked (linked: {linked})")
        }));
    }
    let unlinked = selection
        .schedules
        .iter()
        .filter(|given| !tasks.values().any(|task| given.is_for(task)));
    mistakes.extend(unlinked.map(|given| {
        let Rescheduled { task, from, .. } = given;
        format!("`{from}` names {task:?}, which is not linked (linked: {linked})")
    }));
    if let Some(queues) = &selection.queues {
        let known: BTreeSet<&str> = tasks
            .values()
            .map(|task| task.definition.queue_name())
            .collect();
        let listed = known.iter().copied().collect::<Vec<_>>().join(", ");
        let unknown = queues
            .names
            .iter()
            .filter(|name| !known.contains(name.as_str()));
        mistakes.extend(unknown.map(|name| {
            let from = queues.from;
            format!(
                "`{from}` names {name:?}, which is the queue of no linked task (queues: {listed})"
            )
        }));
    }
    tasks.retain(|name, task| {
        let queue = task.definition.queue_name();
        selection
            .only
            .as_ref()
            .is_none_or(|only| only.contain(name))
            && selection
                .queues
                .as_ref()
                .is_none_or(|queues| queues.contain(queue))
    });
}

fn nothing_left(selection: &Selection) -> Error {
    match (&selection.only, &selection.queues) {
        (Some(only), _) if only.names.is_empty() => {
            Error::option(only.from, "names no task: leave it out to run all of them")
        }
        (_, Some(queues)) if queues.names.is_empty() => Error::option(
            queues.from,
            "names no queue: leave it out to run the tasks of all of them",
        ),
        (only, queues) => {
            let given = [only, queues].into_iter().flatten().map(|names| names.from);
            Error::option(
                given.collect::<Vec<_>>().join(" and "),
                "leave no task to run: none of the named tasks is in one of the named queues",
            )
        }
    }
}

fn describe(registration: &Registration) -> String {
    format!(
        "crate {} at {}",
        registration.location.crate_name(),
        registration.location
    )
}

#[cfg(test)]
mod tests;
