//! Schedules from the environment: `TASKLOCK_SCHEDULE_REFRESH_RATES="every 5m"`, or `off`.

use std::collections::BTreeMap;

use super::settings::{Environment, text};
use crate::error::Error;
use crate::run::Rescheduled;

const PREFIX: &str = "TASKLOCK_SCHEDULE_";

/// The variable of a task: its name in capitals, with a `_` for each character that is no letter or digit.
pub(super) fn variable(task: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    format!("{PREFIX}{}", task.chars().map(plain).collect::<String>())
}

/// What the builder says, and then what the environment does.
pub(super) fn schedules<'a>(
    mut given: Vec<Rescheduled>,
    linked: impl IntoIterator<Item = &'a str>,
    env: Environment<'_>,
) -> Result<Vec<Rescheduled>, Error> {
    let mut of: BTreeMap<String, &str> = BTreeMap::new();
    for task in linked {
        let variable = variable(task);
        let Some(schedule) = text(None, &variable, env) else {
            continue;
        };
        if let Some(other) = of.insert(variable.clone(), task) {
            return Err(Error::option(
                variable,
                format!(
                    "may mean the task {other:?} or {task:?}: set the schedule by the builder's `schedule`"
                ),
            ));
        }
        given.push(Rescheduled {
            task: task.to_owned(),
            schedule,
            from: variable,
        });
    }
    Ok(given)
}

/// Variables that mean no task, of those that are set: most likely typing mistakes. They may also mean another
/// program's tasks.
pub(super) fn unknown<'a>(
    set: impl Iterator<Item = String>,
    linked: impl IntoIterator<Item = &'a str>,
) -> Vec<String> {
    let known: Vec<String> = linked.into_iter().map(variable).collect();
    set.filter(|name| name.starts_with(PREFIX) && !known.contains(name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(name: &str) -> Option<String> {
        let known = [
            "TASKLOCK_SCHEDULE_BILLING_REFRESH",
            "TASKLOCK_SCHEDULE_MAIL",
        ];
        known.contains(&name).then(|| "off".to_owned())
    }

    #[test]
    fn a_variable_is_named_after_its_task() {
        assert_eq!(
            variable("billing.refresh-ü"),
            "TASKLOCK_SCHEDULE_BILLING_REFRESH__"
        );
        let read = schedules(Vec::new(), ["mail", "billing.refresh", "rates"], &env);
        let read: Vec<_> = read.into_iter().flatten().map(|given| given.task).collect();
        assert_eq!(read, ["mail", "billing.refresh"]);
    }

    #[test]
    fn a_variable_that_means_two_tasks_is_refused() {
        let read = schedules(Vec::new(), ["billing.refresh", "billing_refresh"], &env);
        let told = read
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        for part in [
            "TASKLOCK_SCHEDULE_BILLING_REFRESH",
            "billing.refresh",
            "billing_refresh",
        ] {
            assert!(told.contains(part), "{told}");
        }
    }

    #[test]
    fn a_typing_mistake_is_found() {
        let set = ["TASKLOCK_SCHEDULE_MIAL", "TASKLOCK_SCHEDULE_MAIL", "PATH"];
        let found = unknown(set.into_iter().map(str::to_owned), ["mail"]);
        assert_eq!(found, ["TASKLOCK_SCHEDULE_MIAL"]);
    }
}
