//! What the schedules of the tasks say, in this worker: those of the attributes, or what the builder and the environment have put in
//! their place.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Rescheduled, Tasks, describe};
use crate::task::{Plan, Registration, Schedule};

/// A task's plan, and which option said so, if it is not the attribute.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) plan: Arc<Plan>,
    pub(super) from: Option<String>,
}

pub(super) fn plans(
    tasks: &Tasks,
    given: &[Rescheduled],
    mistakes: &mut Vec<String>,
) -> BTreeMap<&'static str, Planned> {
    let mut plans = BTreeMap::new();
    for task in tasks.values() {
        let start = || format!("task {:?} ({})", task.definition.name, describe(task));
        let plan = match task.definition.plan() {
            Ok(plan) => plan,
            Err(mistake) => {
                mistakes.push(format!("{}: {mistake}", start()));
                continue;
            }
        };
        let name = task.definition.name;
        let given = given.iter().find(|given| given.is_for(task));
        let (plan, place) = match given {
            None => (Ok(plan), start()),
            Some(given) => {
                let place = format!("{} = {:?}", given.from, given.schedule);
                (replaced(task, &plan, &given.schedule), place)
            }
        };
        let checked = plan.and_then(|plan| plan.check().map(|()| plan));
        match checked {
            Ok(plan) => {
                let (plan, from) = (Arc::new(plan), given.map(|given| given.from.clone()));
                plans.insert(name, Planned { plan, from });
            }
            Err(mistake) => mistakes.push(format!("{place}: {mistake}")),
        }
    }
    plans
}

/// The plan under another schedule. What depends on it in other ways (retries, how many runs there may be) was settled by the
/// attribute's.
fn replaced(task: &Registration, plan: &Plan, schedule: &str) -> Result<Plan, String> {
    if !task.definition.is_scheduled() {
        return Err(format!(
            "the task {:?} has no schedule that could be replaced: give it one in its attribute",
            task.definition.name
        ));
    }
    let schedule = Schedule::parse(schedule).map_err(|mistake| mistake.to_string())?;
    Ok(plan.with(schedule))
}

/// A former name is nobody else's name, present or former.
pub(super) fn check_former_names(tasks: &Tasks, mistakes: &mut Vec<String>) {
    let mut former = BTreeMap::new();
    for task in tasks.values() {
        let name = task.definition.name;
        let start = || format!("task {name:?} ({})", describe(task));
        for alias in task.definition.former_names() {
            if *alias == name {
                // Told elsewhere.
            } else if let Some(other) = tasks.get(alias) {
                mistakes.push(format!(
                    "{}: alias = {alias:?} is the name of the task in {}: its rows are not taken over; leave the alias out",
                    start(),
                    describe(other)
                ));
            } else if let Some(other) = former.insert(*alias, name) {
                mistakes.push(format!(
                    "{}: alias = {alias:?} is an alias of the task {other:?}, too: leave one of them out",
                    start()
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::run::registry::{Registry, Selection, tests::registration};
    use crate::task::{Definition, States};

    fn cron(name: &'static str) -> Definition {
        Definition::new(name).cron("0 3 * * *").tz("Europe/Berlin")
    }

    fn read(
        definitions: impl IntoIterator<Item = Definition>,
        given: &[(&str, &str)],
    ) -> Result<Registry, Error> {
        let tasks = definitions
            .into_iter()
            .map(|task| registration(task, "a.rs", |_| {}));
        let given = given.iter().map(|(task, schedule)| Rescheduled {
            task: (*task).to_owned(),
            schedule: (*schedule).to_owned(),
            from: "TASKLOCK_SCHEDULE_A".to_owned(),
        });
        let selection = Selection {
            schedules: given.collect(),
            ..Selection::default()
        };
        Registry::of(tasks, &selection, &States::default())
    }

    fn told(definitions: impl IntoIterator<Item = Definition>, given: &[(&str, &str)]) -> String {
        let told = read(definitions, given)
            .err()
            .map(|error| error.to_string());
        told.unwrap_or_default()
    }

    #[test]
    fn another_schedule_stands_in_the_place_of_the_attributes() -> Result<(), Error> {
        let given = [("a", "every 5m"), ("b", "off"), ("a", "every 1h")];
        let registry = read([cron("a"), cron("b"), cron("c")], &given)?;
        let plan = |name| {
            let task = registry.get(name)?;
            Some(registry.plan(task)?.text().to_owned())
        };
        assert_eq!(plan("a").as_deref(), Some("every 5m"));
        assert_eq!(plan("b").as_deref(), Some("on demand"));
        assert_eq!(
            plan("c").as_deref(),
            Some("cron 0 3 * * * in Europe/Berlin")
        );
        let table = registry.to_string();
        assert!(
            table.contains("every 5m (TASKLOCK_SCHEDULE_A, not cron 0 3 * * * in Europe/Berlin)"),
            "{table}"
        );
        assert!(
            table.contains("off (TASKLOCK_SCHEDULE_A, not cron"),
            "{table}"
        );
        Ok(())
    }

    #[test]
    fn what_is_no_schedule_is_told_with_its_place() {
        let variable = told([cron("a")], &[("a", "sometimes")]);
        assert!(
            variable.contains("TASKLOCK_SCHEDULE_A = \"sometimes\""),
            "{variable}"
        );
        let none = told([Definition::new("a")], &[("a", "every 5m")]);
        assert!(none.contains("has no schedule"), "{none}");
        let spread = cron("a").jitter_nanos(3_600_000_000_000);
        let closer = told([spread], &[("a", "every 5m")]);
        assert!(closer.contains("jitter = \"1h\""), "{closer}");
        let zone = told(
            [Definition::new("a").cron("0 3 * * *").tz("Mars/Olympus")],
            &[],
        );
        assert!(
            zone.contains("a.rs:7") && zone.contains("Mars/Olympus"),
            "{zone}"
        );
    }

    #[test]
    fn a_former_name_is_nobody_elses() -> Result<(), Error> {
        let renamed = |name| cron(name).aliases(&["old"]);
        let registry = read([renamed("a")], &[("old", "every 5m")])?;
        let task = registry.get("a").and_then(|task| registry.plan(task));
        assert_eq!(task.map(|plan| plan.text()), Some("every 5m"));
        assert!(registry.get("old").is_none());
        assert!(told([renamed("a"), renamed("b")], &[]).contains("alias of the task \"a\""));
        assert!(told([renamed("a"), cron("old")], &[]).contains("name of the task"));
        Ok(())
    }
}
