//! Schedules from the environment: `TASKLOCK_SCHEDULE_REFRESH_RATES="every 5m"`, or `off`.

use std::collections::BTreeMap;

use tasklock_grammar::nearest;

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

/// What to say of variables that mean no task, of those that are set: most likely typing mistakes. They may also mean another
/// program's tasks.
pub(super) fn unknown<'a>(
    set: impl Iterator<Item = String>,
    linked: impl IntoIterator<Item = &'a str>,
) -> Vec<String> {
    let known: Vec<String> = linked.into_iter().map(variable).collect();
    let told = |name: String| {
        let upper = name.to_uppercase();
        let (start, task) = upper.split_at(second_word(&upper)?);
        if known.contains(&name) || nearest(start, [PREFIX]).is_none() {
            return None;
        }
        let tasks = known.iter().filter_map(|known| known.strip_prefix(PREFIX));
        Some(match nearest(task, tasks) {
            Some(meant) => format!("{name} is set and means nothing: write {PREFIX}{meant}"),
            None => format!(
                "{name} is set, and this program has no such task: its tasks have {}",
                some(&known)
            ),
        })
    };
    set.filter_map(told).collect()
}

/// Where the second word of a variable ends, with its `_`.
fn second_word(name: &str) -> Option<usize> {
    name.match_indices('_').nth(1).map(|(at, _)| at + 1)
}

/// The first of them.
fn some(known: &[String]) -> String {
    const SHOWN: usize = 5;
    let mut shown = known[..known.len().min(SHOWN)].join(", ");
    if known.len() > SHOWN {
        shown.push_str(", …");
    }
    shown
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
        let found = |variable: &str| unknown([variable.to_owned()].into_iter(), ["mails", "a"]);
        for none in [
            "TASKLOCK_SCHEDULE_MAILS",
            "PATH",
            "TASKLOCK_POLL_INTERVAL",
            "A_B_C",
        ] {
            assert_eq!(found(none), [""; 0], "{none}");
        }
        for (near, meant) in [
            ("TASKLOCK_SCHEDULE_MAIL", "write TASKLOCK_SCHEDULE_MAILS"),
            ("tasklock_schedule_mails", "write TASKLOCK_SCHEDULE_MAILS"),
            ("TASKLOCK_SHEDULE_A", "write TASKLOCK_SCHEDULE_A"),
            (
                "TASKLOCK_SCHEDULE_B",
                "TASKLOCK_SCHEDULE_MAILS, TASKLOCK_SCHEDULE_A",
            ),
        ] {
            let told = found(near).concat();
            assert!(told.starts_with(near) && told.ends_with(meant), "{told}");
        }
    }
}
