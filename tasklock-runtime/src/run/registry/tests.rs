use super::*;
use crate::task::{Definition, Location, Renew, Requirements, RunFuture, RunParts};

fn run(_: RunParts) -> RunFuture {
    Box::pin(std::future::pending())
}

pub(in crate::run::registry) fn registration(
    definition: Definition,
    file: &'static str,
    requirements: fn(&mut Requirements),
) -> &'static Registration {
    let location = Location::new("my_jobs::rates", file, 7);
    Box::leak(Box::new(Registration::new(
        definition,
        location,
        run,
        requirements,
    )))
}

fn task(name: &'static str, file: &'static str) -> &'static Registration {
    let definition = Definition::new(name).every_nanos(5_000_000_000);
    registration(definition, file, |_| {})
}

fn in_queue(name: &'static str, queue: &'static str) -> &'static Registration {
    registration(Definition::new(name).queue(queue), "q.rs", |_| {})
}

fn names(from: &'static str, names: &[&str]) -> Option<Names> {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    Some(Names { names, from })
}

fn instead(task: &str, schedule: &str) -> Rescheduled {
    Rescheduled {
        task: task.to_owned(),
        schedule: schedule.to_owned(),
        from: "TASKLOCK_SCHEDULE_X".to_owned(),
    }
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
        only: names("only", &["gone"]),
        queues: names("queues", &["lost"]),
        required: vec!["wanted"],
        schedules: vec![instead("missing", "off")],
    };
    let message = error(&[task(long, "long.rs"), task("", "empty.rs")], &selection);
    for part in [
        "long.rs:7",
        "empty.rs:7",
        "\"gone\"",
        "\"lost\"",
        "\"wanted\"",
        "\"missing\"",
    ] {
        assert!(message.contains(part), "{part} is missing in: {message}");
    }
}

#[test]
fn the_table_has_queues_where_there_are_some() -> Result<(), Error> {
    let tasks = [task("b", "b.rs"), in_queue("a", "mail")];
    let table = Registry::of(tasks, &Selection::default(), &States::default())?.to_string();
    let lines: Vec<&str> = table.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "  task  schedule   queue    ttl/heartbeat  crate    defined at",
            "  a     on demand  mail     30s/10s        my_jobs  q.rs:7",
            "  b     every 5s   default  30s/10s        my_jobs  b.rs:7",
        ]
    );
    Ok(())
}

#[test]
fn the_table_says_what_renews_a_lease() -> Result<(), Error> {
    let of = |name, renew| registration(Definition::new(name).renew(renew), "r.rs", |_| {});
    let stalls = Definition::new("d").renew(Renew::Progress);
    let tasks = [
        of("a", Renew::Auto),
        of("b", Renew::Manual),
        of("c", Renew::Progress),
        registration(stalls.stall_nanos(300_000_000_000), "r.rs", |_| {}),
    ];
    let table = Registry::of(tasks, &Selection::default(), &States::default())?.to_string();
    let lines: Vec<&str> = table.lines().skip(2).collect();
    for (line, renewal) in lines.iter().zip([
        "30s/10s  ",
        "30s/manual  ",
        "30s/10s, stall 30s  ",
        "30s/10s, stall 5m  ",
    ]) {
        assert!(line.contains(renewal), "{line}");
    }
    assert_eq!(lines.len(), 4);
    Ok(())
}

fn left(tasks: &[&'static Registration], selection: &Selection) -> Result<String, Error> {
    let registry = Registry::of(tasks.iter().copied(), selection, &States::default())?;
    let left: Vec<&str> = registry.iter().map(|task| task.definition.name).collect();
    Ok(left.join(" "))
}

#[test]
fn a_worker_runs_the_tasks_of_its_queues() -> Result<(), Error> {
    let tasks = [
        in_queue("a", "mail"),
        in_queue("b", "bank"),
        task("c", "c.rs"),
    ];
    let of = |queues: &[&str]| Selection {
        queues: names("queues", queues),
        ..Selection::default()
    };
    assert_eq!(left(&tasks, &Selection::default())?, "a b c");
    assert_eq!(left(&tasks, &of(&["mail"]))?, "a");
    assert_eq!(left(&tasks, &of(&["default", "bank"]))?, "b c");
    let both = Selection {
        only: names("only", &["a", "c"]),
        ..of(&["mail", "bank"])
    };
    assert_eq!(left(&tasks, &both)?, "a");

    let message = error(&tasks, &of(&["mial"]));
    assert!(
        message.contains("`queues` names \"mial\"") && message.contains("bank, default, mail"),
        "{message}"
    );
    assert!(error(&tasks, &of(&[])).starts_with("queues: names no queue"));
    let neither = Selection {
        only: names("TASKLOCK_ONLY", &["c"]),
        ..of(&["mail"])
    };
    assert!(error(&tasks, &neither).starts_with("TASKLOCK_ONLY and queues: leave no task"));
    Ok(())
}

#[test]
fn a_state_is_missed_only_by_a_task_that_is_run() {
    let needy = |name, file| {
        registration(Definition::new(name).queue(name), file, |needs| {
            needs.state::<u64>()
        })
    };
    let tasks = [needy("a", "a.rs"), needy("b", "b.rs")];
    let message = error(&tasks, &Selection::default());
    assert!(
        message.contains("a.rs:7") && message.contains("b.rs:7"),
        "{message}"
    );
    for selection in [
        Selection {
            only: names("only", &["a"]),
            ..Selection::default()
        },
        Selection {
            queues: names("queues", &["a"]),
            ..Selection::default()
        },
    ] {
        let message = error(&tasks, &selection);
        assert!(
            message.contains("a.rs:7") && !message.contains("b.rs:7"),
            "{message}"
        );
    }
    let mut states = States::default();
    assert!(!states.insert(1_u64));
    assert!(Registry::of(tasks, &Selection::default(), &states).is_ok());
}
