//! The tasks that are linked into this program, checked and sorted.

use std::collections::BTreeMap;
use std::fmt;

use tasklock_grammar::{check_name, display_duration};

use crate::error::Error;
use crate::task::{Registration, Requirements, States};

/// The tasks of one worker, by name.
#[derive(Debug)]
pub(crate) struct Registry {
    tasks: BTreeMap<&'static str, &'static Registration>,
}

/// Which of the linked tasks a worker runs.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    /// These alone, if given.
    pub(crate) only: Option<Vec<String>>,
    /// Where `only` was given.
    pub(crate) only_from: &'static str,
    /// These must be linked.
    pub(crate) required: Vec<&'static str>,
}

impl Default for Selection {
    fn default() -> Self {
        Self {
            only: None,
            only_from: "only",
            required: Vec::new(),
        }
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
        let mut tasks: BTreeMap<&'static str, &'static Registration> = BTreeMap::new();
        let mut mistakes = Vec::new();
        for registration in registrations {
            let name = registration.definition.name;
            mistakes.extend(mistakes_of(registration));
            if let Some(other) = tasks.insert(name, registration)
                // The same function twice: a crate that is linked by two paths.
                && other.location != registration.location
            {
                // Which of the two inventory brings first is chance: the message must not be.
                let mut places = [describe(other), describe(registration)];
                places.sort_unstable();
                mistakes.push(format!(
                    "task {name:?} is defined twice, in {} and in {}: give one of them another \
                     `name = \"…\"`",
                    places[0], places[1]
                ));
            }
        }
        if tasks.is_empty() {
            return Err(Error::NoTasks);
        }
        let linked = tasks.keys().copied().collect::<Vec<_>>().join(", ");
        mistakes.extend(
            selection
                .required
                .iter()
                .filter(|name| !tasks.contains_key(*name))
                .map(|name| format!("task {name:?} is required but not linked (linked: {linked})")),
        );
        if let Some(only) = &selection.only {
            mistakes.extend(
                only.iter()
                    .filter(|name| !tasks.contains_key(name.as_str()))
                    .map(|name| {
                        format!(
                            "`{}` names {name:?}, which is not linked (linked: {linked})",
                            selection.only_from
                        )
                    }),
            );
            tasks.retain(|name, _| only.iter().any(|wanted| wanted == name));
        }
        mistakes.extend(tasks.values().flat_map(|task| missing_states(task, states)));
        if !mistakes.is_empty() {
            mistakes.sort_unstable();
            return Err(Error::Tasks(mistakes));
        }
        if tasks.is_empty() {
            return Err(Error::option(
                selection.only_from,
                "names no task: leave it out to run all of them",
            ));
        }
        Ok(Self { tasks })
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'static Registration> {
        self.tasks.get(name).copied()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static Registration> {
        self.tasks.values().copied()
    }
}

fn describe(registration: &Registration) -> String {
    format!(
        "crate {} at {}",
        registration.location.crate_name(),
        registration.location
    )
}

/// What its parameters need, and the application has not given.
fn missing_states(registration: &Registration, states: &States) -> Vec<String> {
    let mut needs = Requirements::default();
    (registration.requirements)(&mut needs);
    let place = describe(registration);
    needs
        .missing(states)
        .map(|state| {
            format!(
                "task {:?} ({place}) needs a state of the type `{state}`: give it with \
                 `Runtime::builder().state(…)`; a program that calls `tasklock_runtime::run()` calls \
                 `Runtime::builder().state(…).build().await?.run().await` in its place",
                registration.definition.name
            )
        })
        .collect()
}

/// What the macro has checked already, checked again: a registration may be made by hand, or by a
/// macro of another version.
fn mistakes_of(registration: &Registration) -> Vec<String> {
    let definition = &registration.definition;
    let place = describe(registration);
    let name = check_name(definition.name)
        .err()
        .map(|error| format!("task {:?} ({place}): {error}", definition.name));
    let timing = definition
        .timing()
        .check()
        .err()
        .map(|error| format!("task {:?} ({place}): {error}", definition.name));
    name.into_iter().chain(timing).collect()
}

/// The startup table: a line a task, sorted by name.
impl fmt::Display for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows =
            vec![["task", "schedule", "ttl/heartbeat", "crate", "defined at"].map(String::from)];
        rows.extend(self.iter().map(|registration| {
            let definition = &registration.definition;
            let timing = definition.timing();
            [
                definition.name.to_owned(),
                definition.schedule.to_string(),
                format!(
                    "{}/{}",
                    display_duration(timing.ttl),
                    display_duration(timing.heartbeat)
                ),
                registration.location.crate_name().to_owned(),
                registration.location.to_string(),
            ]
        }));
        let mut widths = [0; 5];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        for row in &rows {
            let cells: Vec<String> = row
                .iter()
                .zip(widths)
                .map(|(cell, width)| format!("{cell:width$}"))
                .collect();
            write!(f, "\n  {}", cells.join("  ").trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{Definition, Location, RunFuture, RunParts};

    fn run(_: RunParts) -> RunFuture {
        Box::pin(std::future::pending())
    }

    fn task(name: &'static str, file: &'static str) -> &'static Registration {
        Box::leak(Box::new(Registration::new(
            Definition::new(name).every_nanos(5_000_000_000),
            Location::new("my_jobs::rates", file, 7),
            run,
            |_| {},
        )))
    }

    fn error(tasks: &[&'static Registration], selection: &Selection) -> String {
        match Registry::of(tasks.iter().copied(), selection, &States::default()) {
            Ok(registry) => panic!("accepted: {registry}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_table_is_sorted() -> Result<(), Error> {
        let tasks = [task("b", "b.rs"), task("a", "a.rs")];
        let table = Registry::of(tasks, &Selection::default(), &States::default())?.to_string();
        let lines: Vec<&str> = table.lines().skip(1).collect();
        assert_eq!(
            lines,
            [
                "  task  schedule  ttl/heartbeat  crate    defined at",
                "  a     every 5s  30s/10s        my_jobs  a.rs:7",
                "  b     every 5s  30s/10s        my_jobs  b.rs:7",
            ]
        );
        Ok(())
    }

    #[test]
    fn no_task_is_an_error_with_the_cure() {
        let message = error(&[], &Selection::default());
        assert!(
            message.contains("tasklock_runtime::link!(my_jobs)"),
            "{message}"
        );
    }

    #[test]
    fn a_name_in_two_places_is_an_error_that_names_both() {
        let (one, two) = (task("a", "one.rs"), task("a", "two.rs"));
        let message = error(&[one, two], &Selection::default());
        assert!(
            message.contains("one.rs:7") && message.contains("two.rs:7"),
            "{message}"
        );
        assert_eq!(message, error(&[two, one], &Selection::default()));
    }

    #[test]
    fn the_same_place_twice_is_one_task() {
        let tasks = [task("a", "one.rs"), task("a", "one.rs")];
        assert!(Registry::of(tasks, &Selection::default(), &States::default()).is_ok());
    }

    #[test]
    fn every_mistake_is_told_at_once() {
        let long: &'static str = Box::leak("n".repeat(129).into_boxed_str());
        let selection = Selection {
            only: Some(vec!["gone".into()]),
            required: vec!["wanted"],
            ..Selection::default()
        };
        let message = error(&[task(long, "long.rs"), task("", "empty.rs")], &selection);
        for part in ["long.rs:7", "empty.rs:7", "\"gone\"", "\"wanted\""] {
            assert!(message.contains(part), "{part} is missing in: {message}");
        }
    }
}
