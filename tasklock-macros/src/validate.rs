//! Rules across options, and between an option and the function.

use proc_macro2::Span;
use syn::Error;
use syn::ext::IdentExt;
use tasklock_grammar::{MIN_EVERY, Timing, TimingOption, check_name, display_duration};

use crate::options::Options;
use crate::signature::Handler;

pub(crate) fn check(options: &Options, handler: Option<&Handler>, errors: &mut Vec<Error>) {
    errors.extend(default_name(options, handler));
    errors.extend(timing(options));
    errors.extend(schedules(options));
    errors.extend(every(options));
    errors.extend(concurrency(options));
}

/// A function's name may be too long for the store.
fn default_name(options: &Options, handler: Option<&Handler>) -> Option<Error> {
    let ident = &handler?.ident;
    if options.name.is_some() || options.is_wrong("name") {
        return None;
    }
    let error = check_name(&ident.unraw().to_string()).err()?;
    let message = format!("{error}, or give it another one: `name = \"billing.refresh\"`");
    Some(Error::new(ident.span(), message))
}

/// Against the defaults of those that are not given, unless one of them could not be read.
fn timing(options: &Options) -> Option<Error> {
    if ["ttl", "heartbeat", "margin"]
        .iter()
        .any(|key| options.is_wrong(key))
    {
        return None;
    }
    let [ttl, heartbeat, margin] = [&options.ttl, &options.heartbeat, &options.margin]
        .map(|option| option.as_ref().map(|given| given.value));
    let error = Timing::with_defaults(ttl, heartbeat, margin)
        .check()
        .err()?;
    let option = match error.option() {
        TimingOption::Ttl => &options.ttl,
        TimingOption::Heartbeat => &options.heartbeat,
        TimingOption::Margin => &options.margin,
    };
    // Only an option that was given is ever to blame.
    let at = option
        .as_ref()
        .map_or_else(Span::call_site, |given| given.at);
    Some(Error::new(at, error))
}

/// At most one schedule.
fn schedules(options: &Options) -> Option<Error> {
    let (_, after) = options.every.as_ref().zip(options.after.as_ref())?;
    let message = "`every` and `after` exclude each other: keep `every` for a fixed rate, \
                   or `after` for a fixed delay after the end of a run";
    Some(Error::new(after.key, message))
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

/// A scheduled task has one job, and so one run.
fn concurrency(options: &Options) -> Option<Error> {
    let schedule = schedule(options)?;
    let given = options.concurrency.as_ref()?;
    let message = format!(
        "a task with `{schedule}` has one job, and so one run at a time: remove `concurrency`"
    );
    (given.value > 1).then(|| Error::new(given.at, message))
}

/// The option that makes the task run by itself.
fn schedule(options: &Options) -> Option<&'static str> {
    let every = options.every.as_ref().map(|_| "every");
    every.or_else(|| options.after.as_ref().map(|_| "after"))
}
