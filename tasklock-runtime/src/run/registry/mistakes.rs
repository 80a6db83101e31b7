//! What keeps a task from being run.

mod slots;

use tasklock_grammar::{check_name, display_duration};

use super::describe;
use crate::store::LEASES;
use crate::task::{Definition, OnLost, Registration, Renew, Requirements, States};

/// What the macro has checked already, checked again: a registration may be made by hand, or by a
/// macro of another version.
pub(super) fn of_definition(registration: &Registration) -> impl Iterator<Item = String> {
    let definition = &registration.definition;
    let start = format!("task {:?} ({})", definition.name, describe(registration));
    problems(definition)
        .into_iter()
        .map(move |problem| format!("{start}: {problem}"))
}

fn problems(definition: &Definition) -> Vec<String> {
    let mut problems = Vec::new();
    problems.extend(
        check_name(definition.name)
            .err()
            .map(|error| error.to_string()),
    );
    if definition.name == LEASES {
        problems
            .push("the name is the runtime's own, for named leases: give it another".to_owned());
    }
    problems.extend(
        definition
            .timing()
            .check()
            .err()
            .map(|error| error.to_string()),
    );
    problems.extend(of_renewal(definition));
    problems.extend(slots::problems(definition));
    let queue = definition.queue_name();
    if let Err(error) = check_name(queue) {
        problems.push(format!("queue = {queue:?}: {error}"));
    }
    let (least, most) = definition.backoff();
    if least.is_zero() || least > most {
        problems.push(format!(
            "backoff = \"{}..{}\": write the lesser bound first, and more than zero",
            display_duration(least),
            display_duration(most)
        ));
    }
    match definition.given_limit() {
        Some(0) => problems.push(
            "concurrency = 0 would never run it: write 1 or more, or leave it out".to_owned(),
        ),
        Some(runs) if runs > 1 && definition.is_scheduled() => problems.push(format!(
            "concurrency = {runs}: a task with a schedule has one job and so one run at once; leave it out"
        )),
        _ => {}
    }
    if definition.is_scheduled() && definition.has_payload() {
        problems.push(
            "a task with a schedule has nobody to give it a payload: take the schedule or the \
             `Payload` out"
                .to_owned(),
        );
    }
    let held_back = definition.is_scheduled()
        || definition.given_limit().is_some()
        || !definition.has_payload();
    if definition.hold().is_some() && !held_back {
        problems.push("min_hold would hold nothing back: add `concurrency`".to_owned());
    }
    if definition.is_blocking() && definition.on_lost == OnLost::Abort {
        problems.push(
            "on_lost = \"abort\": a blocking function cannot be aborted; write \"signal\" or \"exit\""
                .to_owned(),
        );
    }
    problems
}

fn of_renewal(definition: &Definition) -> Option<String> {
    let manual = definition.renewal() == Renew::Manual;
    if manual && definition.given_heartbeat().is_some() {
        return Some("heartbeat: with `renew = \"manual\"` there is none; leave it out".to_owned());
    }
    match (definition.stall(), definition.given_stall()) {
        (None, Some(_)) => Some("stall goes with `renew = \"progress\"`; leave it out".to_owned()),
        (Some(_), Some(stall)) => {
            let checked = definition.timing().check_stall(stall, definition.timeout);
            checked.err().map(|error| error.to_string())
        }
        (_, None) => None,
    }
}

/// What its parameters need, and the application has not given.
pub(super) fn missing_states(
    registration: &Registration,
    states: &States,
) -> impl Iterator<Item = String> {
    let mut needs = Requirements::default();
    (registration.requirements)(&mut needs);
    let start = format!(
        "task {:?} ({})",
        registration.definition.name,
        describe(registration)
    );
    needs
        .missing(states)
        .map(|state| {
            format!(
                "{start} needs a state of the type `{state}`: give it with \
                 `Runtime::builder().state(…)`; where the program calls `tasklock_runtime::run()`, write \
                 `Runtime::builder().state(…).build().await?.run().await` instead"
            )
        })
        .collect::<Vec<_>>()
        .into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::registry::tests::registration;

    const SECOND: u64 = 1_000_000_000;

    fn told(definition: Definition) -> String {
        of_definition(registration(definition, "a.rs", |_| {}))
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn what_the_macro_refuses_is_refused_again() {
        let on_demand = || Definition::new("a");
        let every = || on_demand().every_nanos(5 * SECOND);
        let progress = |stall| on_demand().renew(Renew::Progress).stall_nanos(stall);
        for (definition, word) in [
            (on_demand().concurrency(0), "concurrency = 0"),
            (every().concurrency(2), "concurrency = 2"),
            (
                on_demand().backoff_nanos(2 * SECOND, SECOND),
                "backoff = \"2s..1s\"",
            ),
            (
                on_demand().backoff_nanos(0, SECOND),
                "backoff = \"0ms..1s\"",
            ),
            (every().payload(), "schedule"),
            (on_demand().queue(" x"), "queue = \" x\""),
            (on_demand().queue(""), "queue = \"\""),
            (on_demand().payload().min_hold_nanos(SECOND), "min_hold"),
            (
                on_demand().renew(Renew::Manual).heartbeat_nanos(SECOND),
                "heartbeat",
            ),
            (on_demand().stall_nanos(60 * SECOND), "stall"),
            (
                on_demand().renew(Renew::Manual).stall_nanos(60 * SECOND),
                "stall",
            ),
            (
                on_demand().renew(Renew::Progress).stall_nanos(SECOND),
                "one heartbeat of 10s",
            ),
            (
                progress(20 * SECOND).timeout_nanos(20 * SECOND),
                "the timeout of 20s",
            ),
            (on_demand().blocking().on_lost(OnLost::Abort), "on_lost"),
            (on_demand().on_lost(OnLost::Abort).blocking(), "on_lost"),
        ] {
            let told = told(definition);
            assert!(
                told.starts_with("task \"a\" (crate my_jobs at a.rs:7): ") && told.contains(word),
                "{word}: {told}"
            );
            assert_eq!(told.lines().count(), 1, "{told}");
        }
    }

    #[test]
    fn what_the_macro_takes_is_taken() {
        let on_demand = || Definition::new("a");
        let every = || on_demand().every_nanos(5 * SECOND);
        for definition in [
            on_demand(),
            every().concurrency(1).min_hold_nanos(SECOND).blocking(),
            on_demand().payload().concurrency(3).min_hold_nanos(SECOND),
            on_demand().min_hold_nanos(SECOND),
            on_demand().renew(Renew::Manual),
            on_demand().renew(Renew::Progress).timeout_nanos(SECOND),
            on_demand().renew(Renew::Progress).stall_nanos(20 * SECOND),
            on_demand()
                .backoff_nanos(SECOND, SECOND)
                .queue("mail")
                .blocking(),
            on_demand().blocking().on_lost(OnLost::Exit),
        ] {
            assert_eq!(told(definition), "");
        }
    }

    #[test]
    fn each_missing_state_is_named_with_its_cure() {
        struct Mailer;
        struct Bank;
        let task = registration(Definition::new("a"), "a.rs", |needs| {
            needs.state::<Mailer>();
            needs.state::<Bank>();
            needs.state::<Mailer>();
        });
        let mut states = States::default();
        let missing: Vec<String> = missing_states(task, &states).collect();
        assert_eq!(missing.len(), 2, "{missing:?}");
        for part in [
            "\"a\"",
            "a.rs:7",
            "::Mailer`",
            "Runtime::builder().state(",
            "run()",
        ] {
            assert!(missing[0].contains(part), "{part}: {}", missing[0]);
        }
        assert!(!states.insert(Mailer));
        let missing: Vec<String> = missing_states(task, &states).collect();
        assert!(
            missing.len() == 1 && missing[0].contains("::Bank`"),
            "{missing:?}"
        );
    }
}
