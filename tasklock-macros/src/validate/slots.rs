//! Rules about a schedule and what is said of its slots.

use proc_macro2::Span;
use syn::Error;
use tasklock_grammar::{MIN_CATCH_UP, MIN_EVERY, display_duration};

use crate::options::Options;

pub(super) fn check(options: &Options) -> Vec<Error> {
    let errors = [
        every(options),
        tz(options),
        jitter(options),
        unmissed(options),
        max_missed(options),
        catch_up(options),
    ];
    errors.into_iter().flatten().collect()
}

fn every(options: &Options) -> Option<Error> {
    let every = options
        .every
        .as_ref()
        .filter(|every| every.value < MIN_EVERY)?;
    let least = display_duration(MIN_EVERY);
    let message = format!("`every` is too short: write \"{least}\" or more");
    Some(Error::new(every.at, message))
}

fn tz(options: &Options) -> Option<Error> {
    let tz = options.tz.as_ref()?;
    if options.cron.is_some() || options.is_wrong("cron") {
        return None;
    }
    let message = "`tz` is the zone of a `cron`: add that, or remove `tz`";
    Some(Error::new(tz.key, message))
}

/// Runs keep their order. What a cron's slots are apart is found out at the start.
fn jitter(options: &Options) -> Option<Error> {
    let jitter = options.jitter.as_ref()?;
    if !options.may_be_scheduled() {
        let message = "`jitter` spreads the slots of a schedule, and the task has none: remove it, or add `every`, \
                       `after` or `cron`";
        return Some(Error::new(jitter.key, message));
    }
    let every = options.every.as_ref()?.value;
    let message = format!(
        "`jitter` is no shorter than the {} between two slots, and runs would change places: write less",
        display_duration(every)
    );
    (jitter.value >= every).then(|| Error::new(jitter.at, message))
}

/// Only slots that are known beforehand can be missed.
fn unmissed(options: &Options) -> Option<Error> {
    let given: [(&str, Option<Span>); 3] = [
        ("missed", options.missed.as_ref().map(|given| given.key)),
        (
            "max_missed",
            options.max_missed.as_ref().map(|given| given.key),
        ),
        ("catch_up", options.catch_up.as_ref().map(|given| given.key)),
    ];
    let (key, at) = given.into_iter().find_map(|(key, at)| Some((key, at?)))?;
    let message = match options.schedule() {
        Some("after") => format!("with `after` no slot is ever missed: remove `{key}`"),
        None if !options.may_be_scheduled() => {
            format!(
                "`{key}` is about the slots of a schedule, and the task has none: remove it, or add `every` or `cron`"
            )
        }
        _ => return None,
    };
    Some(Error::new(at, message))
}

fn max_missed(options: &Options) -> Option<Error> {
    let given = options.max_missed.as_ref()?;
    if options.is_wrong("missed") || unmissed(options).is_some() {
        return None;
    }
    let missed = options.missed.as_ref().map(|given| given.value);
    let message = "`max_missed` is the most slots that `missed = \"all\"` runs one by one: add that, or remove `max_missed`";
    (missed != Some("All")).then(|| Error::new(given.key, message))
}

fn catch_up(options: &Options) -> Option<Error> {
    let given = options.catch_up.as_ref()?;
    if given.value < MIN_CATCH_UP {
        let least = display_duration(MIN_CATCH_UP);
        let message =
            format!("`catch_up` is too short, a claim may take as long: write \"{least}\" or more");
        return Some(Error::new(given.at, message));
    }
    let skips = options.missed.as_ref()?.value == "Skip";
    let message =
        "with `missed = \"skip\"` nothing is caught up with: remove `catch_up`, or `missed`";
    (skips && unmissed(options).is_none()).then(|| Error::new(given.key, message))
}
