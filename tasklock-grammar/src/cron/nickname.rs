//! `@daily` and its kin.

use super::mistake::{CronError, EXAMPLE};
use super::part::Part;
use crate::duration::parse_duration;
use crate::near::nearest;

const NICKNAMES: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

/// The fields that a nickname stands for.
pub(super) fn fields(words: &[Part<'_>]) -> Result<&'static str, CronError> {
    let (name, rest) = (words[0], &words[1..]);
    if name.is("@reboot") {
        let message = "`@reboot` is no time: with `on_start = true` a task runs once when it is first \
                       deployed";
        let in_text = format!(
            "`@reboot` is no time: with `on_start = true` in its attribute a task runs once when it is first deployed; \
             write a cron such as \"cron {EXAMPLE}\""
        );
        return Err(CronError::new(name.range(), message).in_text(in_text));
    }
    if name.is("@every") {
        return Err(every(name, rest));
    }
    let known = NICKNAMES.iter().find(|(own, _)| name.is(own));
    let Some((_, fields)) = known else {
        let names = NICKNAMES.map(|(name, _)| name);
        let shown = name.text.escape_debug();
        if let Some(meant) = nearest(&name.text.to_lowercase(), names) {
            let message = format!("there is no `{shown}`: write \"{meant}\"");
            return Err(CronError::new(name.range(), message));
        }
        let message = |start| {
            let names = names.join(", ");
            format!(
                "there is no `{shown}`: write one of {names}, or fields such as \"{start}{EXAMPLE}\""
            )
        };
        return Err(CronError::new(name.range(), message("")).in_text(message("cron ")));
    };
    if let (Some(first), Some(last)) = (rest.first(), rest.last()) {
        let message = format!("`{}` stands alone: leave the rest out", name.text);
        return Err(CronError::new(first.range_to(*last), message));
    }
    Ok(fields)
}

fn every(name: Part<'_>, rest: &[Part<'_>]) -> CronError {
    let duration = match rest {
        [duration] if parse_duration(duration.text).is_ok() => duration.text,
        _ => "5m",
    };
    let message = format!("`@every` is no cron: write `every = {duration:?}` in place of `cron`");
    let in_text = format!("`@every` is no cron: write \"every {duration}\" in its place");
    CronError::new(name.range_to(*rest.last().unwrap_or(&name)), message).in_text(in_text)
}
