//! What is wrong with what a task says of its slots, and of its former names.

use tasklock_grammar::{MIN_CATCH_UP, check_name, display_duration};

use crate::task::{Definition, Missed};

pub(super) fn problems(definition: &Definition) -> Vec<String> {
    let mut problems = Vec::new();
    if definition.given_jitter().is_some() && !definition.is_scheduled() {
        problems.push("jitter: the task has no schedule to spread; leave it out".to_owned());
    }
    let missed = definition.given_missed();
    let about_slots = [
        ("missed", missed.is_some()),
        ("max_missed", definition.given_max_missed().is_some()),
        ("catch_up", definition.given_catch_up().is_some()),
    ];
    let about_slots = about_slots.into_iter().find(|(_, given)| *given);
    match (about_slots, definition.has_slots()) {
        (None, _) => {}
        (Some((option, _)), false) => problems.push(format!(
            "{option} is about the slots of `every` or `cron`, and the task has neither; leave it out"
        )),
        (Some(_), true) => {
            if definition.given_max_missed().is_some() && missed != Some(Missed::All) {
                problems.push("max_missed goes with `missed = \"all\"`; leave it out".to_owned());
            }
            if definition.given_catch_up().is_some() && missed == Some(Missed::Skip) {
                problems.push(
                    "catch_up: with `missed = \"skip\"` nothing is caught up with; leave it out".to_owned(),
                );
            }
        }
    }
    if definition
        .given_catch_up()
        .is_some_and(|most| most < MIN_CATCH_UP)
    {
        let least = display_duration(MIN_CATCH_UP);
        problems.push(format!(
            "catch_up is too short, a claim may take as long: write {least} or more"
        ));
    }
    if definition.given_max_missed() == Some(0) {
        problems.push("max_missed = 0: write 1 or more, or `missed = \"skip\"`".to_owned());
    }
    if definition.runs_on_start() && definition.has_payload() {
        problems.push(
            "on_start: nobody gives the run at the start a payload; take it or the `Payload` out"
                .to_owned(),
        );
    }
    for alias in definition.former_names() {
        if let Err(error) = check_name(alias) {
            problems.push(format!("alias = {alias:?}: {error}"));
        } else if *alias == definition.name {
            problems.push(format!(
                "alias = {alias:?} is the task's own name; leave it out"
            ));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn what_the_macro_refuses_is_refused_again() {
        let on_demand = || Definition::new("a");
        let every = || on_demand().every_nanos(5 * SECOND);
        for (definition, word) in [
            (on_demand().jitter_nanos(SECOND), "jitter"),
            (on_demand().missed(Missed::All), "missed"),
            (
                on_demand().after_nanos(SECOND).missed(Missed::Once),
                "missed",
            ),
            (every().max_missed(3), "max_missed"),
            (every().missed(Missed::All).max_missed(0), "max_missed = 0"),
            (
                every().missed(Missed::Skip).catch_up_nanos(SECOND),
                "catch_up",
            ),
            (on_demand().catch_up_nanos(SECOND), "catch_up"),
            (every().catch_up_nanos(SECOND - 1), "catch_up"),
            (on_demand().payload().on_start(true), "on_start"),
            (on_demand().aliases(&["a"]), "alias"),
            (on_demand().aliases(&[" b"]), "alias"),
        ] {
            let told = problems(&definition);
            assert!(
                told.len() == 1 && told[0].starts_with(word),
                "{word}: {told:?}"
            );
        }
    }

    #[test]
    fn what_the_macro_takes_is_taken() {
        let on_demand = || Definition::new("a");
        let cron = || on_demand().cron("0 3 * * *").tz("Europe/Berlin");
        for definition in [
            cron()
                .jitter_nanos(SECOND)
                .missed(Missed::All)
                .max_missed(3)
                .catch_up_nanos(SECOND),
            cron().missed(Missed::Skip).on_start(true),
            on_demand()
                .after_nanos(SECOND)
                .jitter_nanos(SECOND)
                .on_start(true),
            on_demand().on_start(true).aliases(&["b", "c"]),
        ] {
            assert_eq!(problems(&definition), Vec::<String>::new());
        }
    }
}
