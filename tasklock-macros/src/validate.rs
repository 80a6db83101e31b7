//! Rules across options, and between an option and the function.

use proc_macro2::Span;
use syn::Error;
use syn::ext::IdentExt;
use tasklock_grammar::{MIN_EVERY, Timing, TimingOption, check_name, display_duration};

use crate::options::Options;
use crate::signature::Handler;
use crate::value::template::needs_payload;

pub(crate) fn check(options: &Options, handler: Option<&Handler>, errors: &mut Vec<Error>) {
    errors.extend(default_name(options, handler));
    errors.extend(timing(options));
    errors.extend(manual_heartbeat(options));
    errors.extend(stall(options));
    errors.extend(schedules(options));
    errors.extend(every(options));
    errors.extend(concurrency(options));
    if let Some(handler) = handler {
        errors.extend(scheduled_payload(options, handler));
        errors.extend(min_hold(options, handler));
        errors.extend(abort(options, handler));
        errors.extend(resource(options, handler));
    }
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
    let error = lease_timing(options).check().err()?;
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

fn lease_timing(options: &Options) -> Timing {
    let [ttl, heartbeat, margin] = [&options.ttl, &options.heartbeat, &options.margin]
        .map(|option| option.as_ref().map(|given| given.value));
    Timing::with_defaults(ttl, heartbeat, margin)
}

/// Where the handler renews, nothing comes by itself.
fn manual_heartbeat(options: &Options) -> Option<Error> {
    let heartbeat = options.heartbeat.as_ref()?;
    let message = "with `renew = \"manual\"` there is no heartbeat, the handler renews its lease by \
                   `lease.renew()`: remove `heartbeat`, or `renew`";
    let manual = options.renew.as_ref()?.value == "Manual";
    manual.then(|| Error::new(heartbeat.key, message))
}

/// Somebody has to look at the handler's reports, and be able to tell silence from work.
fn stall(options: &Options) -> Option<Error> {
    let stall = options.stall.as_ref()?;
    if options.is_wrong("renew") {
        return None;
    }
    if options.renew.as_ref().map(|given| given.value) != Some("Progress") {
        let message = "`stall` is how long a handler under `renew = \"progress\"` may report nothing: \
                       add that, or remove `stall`";
        return Some(Error::new(stall.key, message));
    }
    let unread = ["ttl", "heartbeat", "timeout"];
    if unread.iter().any(|key| options.is_wrong(key)) {
        return None;
    }
    let timeout = options.timeout.as_ref().map(|given| given.value);
    let error = lease_timing(options)
        .check_stall(stall.value, timeout)
        .err()?;
    Some(Error::new(stall.at, error))
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
    let schedule = options.schedule()?;
    let given = options.concurrency.as_ref()?;
    let message = format!(
        "a task with `{schedule}` has one job, and so one run at a time: remove `concurrency`"
    );
    (given.value > 1).then(|| Error::new(given.at, message))
}

/// Nobody gives a payload to a task that runs by itself.
fn scheduled_payload(options: &Options, handler: &Handler) -> Option<Error> {
    let schedule = options.schedule()?;
    let payload = handler
        .parameters
        .extractors
        .iter()
        .find(|extractor| extractor.payload.is_some())?;
    let message = format!(
        "a task with `{schedule}` runs by itself, and nobody gives it a payload: remove this \
         parameter, or remove `{schedule}` and enqueue its jobs"
    );
    Some(Error::new_spanned(&payload.ty, message))
}

/// Jobs that carry something run side by side: what should keep the next one back?
fn min_hold(options: &Options, handler: &Handler) -> Option<Error> {
    let given = options.min_hold.as_ref()?;
    let runs_alone = options.schedule().is_some()
        || options.concurrency.is_some()
        || options.is_wrong("concurrency")
        || ["every", "after"].iter().any(|key| options.is_wrong(key));
    if runs_alone || handler.parameters.payload().is_none() {
        return None;
    }
    let message = "`min_hold` would hold nothing back, jobs with a payload run side by side: \
                   add `concurrency = 1`, or remove it";
    Some(Error::new(given.key, message))
}

fn abort(options: &Options, handler: &Handler) -> Option<Error> {
    let given = options.on_lost.as_ref()?;
    let message =
        "a blocking task is a thread, which cannot be stopped: write \"signal\" or \"exit\"";
    (handler.blocking && given.value == "Abort").then(|| Error::new(given.at, message))
}

/// A name is made of what a job carries.
fn resource(options: &Options, handler: &Handler) -> Option<Error> {
    let given = options.resource.as_ref()?;
    if handler.parameters.payload().is_some() {
        return None;
    }
    let message = "this name is made of a payload, and the task has none: add a parameter `payload: Payload<…>`, or \
                   write a name without braces";
    needs_payload(given, message)
}
