//! `key = value, …` → [`Options`]. Each mistake is reported and stepped over, so that one build shows
//! them all.

use std::ops::RangeInclusive;
use std::time::Duration;

use proc_macro2::{Ident, Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Error, Path, Result, Token};

use crate::suggest::did_you_mean;
use crate::value::template::Template;
use crate::value::{Value, skip_value};

/// What the user gave; `None` means the default, which is the runtime's to know.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) name: Option<Given<String>>,
    pub(crate) alias: Option<Vec<Given<String>>>,
    pub(crate) ttl: Option<Given<Duration>>,
    pub(crate) heartbeat: Option<Given<Duration>>,
    pub(crate) margin: Option<Given<Duration>>,
    /// The variant of the runtime's `Renew`.
    pub(crate) renew: Option<Given<&'static str>>,
    pub(crate) stall: Option<Given<Duration>>,
    pub(crate) every: Option<Given<Duration>>,
    pub(crate) after: Option<Given<Duration>>,
    pub(crate) cron: Option<Given<String>>,
    pub(crate) tz: Option<Given<String>>,
    pub(crate) jitter: Option<Given<Duration>>,
    /// The variant of the runtime's `Missed`.
    pub(crate) missed: Option<Given<&'static str>>,
    pub(crate) max_missed: Option<Given<u32>>,
    pub(crate) catch_up: Option<Given<Duration>>,
    pub(crate) on_start: Option<Given<bool>>,
    pub(crate) timeout: Option<Given<Duration>>,
    /// The variant of the runtime's `OnLost`.
    pub(crate) on_lost: Option<Given<&'static str>>,
    pub(crate) retries: Option<Given<u32>>,
    pub(crate) backoff: Option<Given<(Duration, Duration)>>,
    pub(crate) max_crashes: Option<Given<u32>>,
    pub(crate) concurrency: Option<Given<u32>>,
    pub(crate) queue: Option<Given<String>>,
    pub(crate) priority: Option<Given<i16>>,
    pub(crate) min_hold: Option<Given<Duration>>,
    pub(crate) keep: Option<Given<Keep>>,
    pub(crate) resource: Option<Given<Template>>,
    pub(crate) krate: Option<Path>,
    pub(crate) handle: Option<Handle>,
    /// The options that were given, right or wrong, as the user wrote their names.
    pub(crate) keys: Vec<Ident>,
    /// Options whose value could not be read: no rule across options may build on their defaults.
    wrong: Vec<String>,
}

/// A value and where the user wrote it.
pub(crate) struct Given<T> {
    pub(crate) value: T,
    pub(crate) key: Span,
    pub(crate) at: Span,
}

/// How long a finished job stays.
pub(crate) enum Keep {
    For(Duration),
    Nothing,
}

/// `handle = Name` or `handle = false`.
pub(crate) enum Handle {
    Named(Ident),
    Omitted,
}

/// An option: its key, an example of its value, and how to read it.
pub(crate) struct Known {
    pub(crate) key: &'static str,
    example: &'static str,
    read: fn(&mut Options, &Value<'_>) -> Result<()>,
}

macro_rules! known {
    ($($key:literal = $example:literal => $field:ident: $read:expr;)*) => {
        &[$(Known {
            key: $key,
            example: $example,
            read: |options, value| {
                options.$field = Some($read(value)?);
                Ok(())
            },
        }),*]
    };
}

/// Every option. A further one is a line here, its field above, and its setter in `expand`.
pub(crate) const KNOWN: &[Known] = known! {
    "name" = "\"billing.refresh\"" => name: Value::name;
    "alias" = "\"old.name\"" => alias: Value::aliases;
    "ttl" = "\"30s\"" => ttl: Value::duration;
    "heartbeat" = "\"10s\"" => heartbeat: Value::duration;
    "margin" = "\"6s\"" => margin: Value::duration;
    "renew" = "\"progress\"" => renew: |value: &Value<'_>| value.one_of(RENEW);
    "stall" = "\"5m\"" => stall: Value::duration;
    "every" = "\"5m\"" => every: Value::duration;
    "after" = "\"5m\"" => after: Value::duration;
    "cron" = "\"0 3 * * *\"" => cron: Value::cron;
    "tz" = "\"Europe/Berlin\"" => tz: Value::zone;
    "jitter" = "\"30s\"" => jitter: Value::duration;
    "missed" = "\"skip\"" => missed: |value: &Value<'_>| value.one_of(MISSED);
    "max_missed" = "100" => max_missed: |value: &Value<'_>| value.number(1..=MOST_MISSED);
    "catch_up" = "\"1h\"" => catch_up: Value::duration;
    "on_start" = "true" => on_start: Value::flag;
    "timeout" = "\"1h\"" => timeout: Value::duration;
    "on_lost" = "\"abort\"" => on_lost: |value: &Value<'_>| value.one_of(ON_LOST);
    "retries" = "3" => retries: |value: &Value<'_>| value.number(0..=MOST);
    "backoff" = "\"1s..10m\"" => backoff: Value::backoff;
    "max_crashes" = "5" => max_crashes: |value: &Value<'_>| value.number(1..=MOST);
    "concurrency" = "3" => concurrency: |value: &Value<'_>| value.number(1..=MOST);
    "queue" = "\"slow\"" => queue: Value::queue;
    "priority" = "10" => priority: |value: &Value<'_>| value.number(PRIORITIES);
    "min_hold" = "\"1m\"" => min_hold: Value::duration;
    "keep" = "\"1d\"" => keep: Value::keep;
    "resource" = "\"invoice:{invoice}\"" => resource: Value::template;
    "crate" = "my_facade::tasklock_runtime" => krate: Value::path;
    "handle" = "RefreshRates" => handle: Value::handle;
};

/// The largest count: more than anybody means, and it fits in every store.
const MOST: i64 = 1_000_000;

/// Each of them is looked for in the calendar.
const MOST_MISSED: i64 = 10_000;

const PRIORITIES: RangeInclusive<i64> = i16::MIN as i64..=i16::MAX as i64;

const ON_LOST: &[(&str, &str)] = &[("abort", "Abort"), ("signal", "Signal"), ("exit", "Exit")];

const MISSED: &[(&str, &str)] = &[("once", "Once"), ("skip", "Skip"), ("all", "All")];

const RENEW: &[(&str, &str)] = &[
    ("auto", "Auto"),
    ("progress", "Progress"),
    ("manual", "Manual"),
];

impl Options {
    pub(crate) fn parse(args: TokenStream, errors: &mut Vec<Error>) -> Self {
        let mut options = Self::default();
        let read = |input: ParseStream<'_>| {
            options.read_all(input, errors);
            Ok(())
        };
        // Everything is consumed, and what is wrong is in `errors` already.
        let _ = read.parse2(args);
        options
    }

    /// Whether a value was given for this option that could not be read.
    pub(crate) fn is_wrong(&self, key: &str) -> bool {
        self.wrong.iter().any(|wrong| wrong == key)
    }

    /// The option that makes the task run by itself.
    pub(crate) fn schedule(&self) -> Option<&'static str> {
        let given = [
            self.every.as_ref().map(|_| "every"),
            self.after.as_ref().map(|_| "after"),
            self.cron.as_ref().map(|_| "cron"),
        ];
        given.into_iter().flatten().next()
    }

    /// Whether it has one, or one that could not be read.
    pub(crate) fn may_be_scheduled(&self) -> bool {
        let wrong = ["every", "after", "cron"]
            .iter()
            .any(|key| self.is_wrong(key));
        wrong || self.schedule().is_some()
    }

    fn read_all(&mut self, input: ParseStream<'_>, errors: &mut Vec<Error>) {
        let mut seen = Vec::new();
        while !input.is_empty() {
            if let Err(error) = self.read_one(input, &mut seen) {
                errors.push(error);
                skip_value(input);
            }
            if let Err(error) = read_comma(input) {
                errors.push(error);
            }
        }
    }

    fn read_one(&mut self, input: ParseStream<'_>, seen: &mut Vec<String>) -> Result<()> {
        if input.peek(Token![,]) {
            return Err(input.error("a comma without an option before it: remove it"));
        }
        let key = input.call(Ident::parse_any).map_err(|error| {
            Error::new(
                error.span(),
                "an option has a name: write it as in `ttl = \"30s\"`",
            )
        })?;
        let name = key.to_string();
        let Some(known) = KNOWN.iter().find(|known| known.key == name) else {
            return Err(unknown(&key));
        };
        if seen.contains(&name) {
            let message = format!("`{name}` is given twice: remove one of them");
            return Err(Error::new(key.span(), message));
        }
        seen.push(name.clone());
        self.keys.push(key.clone());
        let read =
            Value::new(&key, known.example, input).and_then(|value| (known.read)(self, &value));
        if read.is_err() {
            self.wrong.push(name);
        }
        read
    }
}

/// The comma between two options.
fn read_comma(input: ParseStream<'_>) -> Result<()> {
    if input.is_empty() || input.parse::<Option<Token![,]>>()?.is_some() {
        return Ok(());
    }
    if input.peek(Ident::peek_any) {
        // Most likely the next option: it is read as one.
        return Err(input.error("a comma is missing before this"));
    }
    let error = input.error("this does not belong to the value: remove it");
    skip_value(input);
    input.parse::<Option<Token![,]>>()?;
    Err(error)
}

fn unknown(key: &Ident) -> Error {
    let name = key.to_string();
    let known = || KNOWN.iter().map(|known| known.key);
    let message = if let Some(near) = did_you_mean(&name, known()) {
        format!("there is no option `{name}`: did you mean `{near}`?")
    } else {
        let all = known().collect::<Vec<_>>().join("`, `");
        format!("there is no option `{name}`: the options are `{all}`")
    };
    Error::new(key.span(), message)
}
