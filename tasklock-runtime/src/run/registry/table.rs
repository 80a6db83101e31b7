//! The startup table.

use std::fmt;

use tasklock_grammar::display_duration;

use super::Registry;
use super::schedules::Planned;
use crate::task::{Definition, Plan, Registration, Renew, Schedule};

/// A line a task, sorted by name. The queue is told only where it is not everywhere the default.
impl fmt::Display for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queues = self
            .iter()
            .any(|task| task.definition.queue_name() != Definition::DEFAULT_QUEUE);
        let headings = [
            "task",
            "schedule",
            "queue",
            "ttl/heartbeat",
            "crate",
            "defined at",
        ];
        let mut rows = vec![headings.map(String::from)];
        rows.extend(self.iter().map(|task| row(self, task)));
        let columns = (0..headings.len()).filter(|column| queues || headings[*column] != "queue");
        let widths: Vec<(usize, usize)> = columns
            .map(|column| {
                let widths = rows.iter().map(|row| row[column].chars().count());
                (column, widths.max().unwrap_or(0))
            })
            .collect();
        for row in &rows {
            let cells: Vec<String> = widths
                .iter()
                .map(|&(column, width)| format!("{:width$}", row[column]))
                .collect();
            write!(f, "\n  {}", cells.join("  ").trim_end())?;
        }
        Ok(())
    }
}

fn row(registry: &Registry, registration: &'static Registration) -> [String; 6] {
    let definition = &registration.definition;
    [
        definition.name.to_owned(),
        schedule(registry, registration),
        definition.queue_name().to_owned(),
        renewal(definition),
        registration.location.crate_name().to_owned(),
        registration.location.to_string(),
    ]
}

/// The schedule, and what the attribute says if another one stands in its place.
fn schedule(registry: &Registry, registration: &'static Registration) -> String {
    let declared = registration.definition.plan();
    let declared = declared.as_ref().map(Plan::text).unwrap_or_default();
    match registry.planned(registration) {
        Some(Planned {
            plan,
            from: Some(from),
        }) if plan.text() != declared => {
            // As it is written in the option.
            let off = Schedule::OnDemand.to_string();
            let now = if plan.text() == off {
                "off"
            } else {
                plan.text()
            };
            format!("{now} ({from}, not {declared})")
        }
        _ => declared.to_owned(),
    }
}

/// How long the lease is, and what renews it.
fn renewal(definition: &Definition) -> String {
    let timing = definition.timing();
    let ttl = display_duration(timing.ttl);
    let heartbeat = display_duration(timing.heartbeat);
    match (definition.renewal(), definition.stall()) {
        (Renew::Manual, _) => format!("{ttl}/manual"),
        (_, Some(stall)) => format!("{ttl}/{heartbeat}, stall {}", display_duration(stall)),
        (_, None) => format!("{ttl}/{heartbeat}"),
    }
}
