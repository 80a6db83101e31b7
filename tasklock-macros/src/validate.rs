//! Rules across options, and between an option and the function.

mod slots;

use proc_macro2::Span;
use syn::Error;
use syn::ext::IdentExt;
use tasklock_grammar::{Timing, TimingOption, check_name};

use crate::options::Options;
use crate::signature::Handler;
use crate::value::template::needs_payload;

pub(crate) fn check(options: &Options, handler: Option<&Handler>, errors: &mut Vec<Error>) {
    errors.extend(default_name(options, handler));
    errors.extend(timing(options));
    errors.extend(manual_heartbeat(options));
    errors.extend(stall(options));
    errors.extend(schedules(options));
    errors.extend(slots::check(options));
    errors.extend(alias(options, handler));
    errors.extend(concurrency(options));
    if let Some(handler) = handler {
        errors.extend(scheduled_payload(options, handler));
        errors.extend(start_payload(options, handler));
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
    let given = [
        options.every.as_ref().map(|given| ("every", given.key)),
        options.after.as_ref().map(|given| ("after", given.key)),
        options.cron.as_ref().map(|given| ("cron", given.key)),
    ];
    let mut given = given.into_iter().flatten();
    let ((first, _), (second, key)) = given.next().zip(given.next())?;
    let message = format!(
        "`{first}` and `{second}` exclude each other: keep `every` for a fixed rate, `after` for a fixed \
         delay after the end of a run, or `cron` for the calendar"
    );
    Some(Error::new(key, message))
}

/// A former name is another one, and is told once.
fn alias(options: &Options, handler: Option<&Handler>) -> Vec<Error> {
    let name = match (&options.name, handler) {
        (Some(given), _) => Some(given.value.clone()),
        (None, Some(handler)) if !options.is_wrong("name") => {
            Some(handler.ident.unraw().to_string())
        }
        _ => None,
    };
    let aliases = options.alias.as_deref().unwrap_or_default();
    let mut errors = Vec::new();
    for (nth, alias) in aliases.iter().enumerate() {
        if name.as_ref() == Some(&alias.value) {
            let message = "this is the task's name, and no former one: remove it";
            errors.push(Error::new(alias.at, message));
        } else if aliases[..nth]
            .iter()
            .any(|other| other.value == alias.value)
        {
            errors.push(Error::new(
                alias.at,
                "this alias is given twice: remove one of them",
            ));
        }
    }
    errors
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

/// Nor to the run at the start.
fn start_payload(options: &Options, handler: &Handler) -> Option<Error> {
    let given = options.on_start.as_ref().filter(|given| given.value)?;
    handler.parameters.payload()?;
    let message = "a task with a payload runs when it is enqueued, and nobody gives the run at the start a payload: \
                   remove `on_start`";
    // With a schedule, the payload was told of.
    (!options.may_be_scheduled()).then(|| Error::new(given.key, message))
}

/// Jobs that carry something run side by side: what should keep the next one back?
fn min_hold(options: &Options, handler: &Handler) -> Option<Error> {
    let given = options.min_hold.as_ref()?;
    let runs_alone = options.may_be_scheduled()
        || options.concurrency.is_some()
        || options.is_wrong("concurrency");
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
