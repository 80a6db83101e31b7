//! Schedules as text: in the store, in the environment, in a builder's options and in `preview`.

use std::error::Error;
use std::fmt;

use tasklock_grammar::{CronError, DurationError, MIN_EVERY, display_duration, parse_duration};

mod meant;

use super::Schedule;
use crate::task::zone::ZoneError;

/// Why a text is no schedule: one line, with what to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScheduleError(String);

impl ScheduleError {
    pub(super) fn cron(expression: &str, error: &CronError) -> Self {
        Self(pointed(expression, error.range(), error.text_message()))
    }

    pub(super) fn zone(error: &ZoneError) -> Self {
        Self(error.message().to_owned())
    }

    fn duration(text: &str, error: &DurationError) -> Self {
        Self(pointed(text, error.range(), error.message()))
    }
}

/// Names the part that is wrong, where it is not the whole.
fn pointed(text: &str, part: std::ops::Range<usize>, message: &str) -> String {
    match text.get(part) {
        Some(wrong) if !wrong.is_empty() && wrong != text && !message.contains(wrong) => {
            format!("at `{}`: {message}", wrong.escape_debug())
        }
        _ => message.to_owned(),
    }
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for ScheduleError {}

impl Schedule {
    /// Reads what `Display` writes, and `off`: `every 5m`, `after 30s`, `cron 30 2 * * MON-FRI in Europe/Berlin`.
    pub(crate) fn parse(text: &str) -> Result<Self, ScheduleError> {
        Self::read(text).map_err(|error| match meant::schedule(text) {
            Some((what, meant)) => ScheduleError(format!("{what}: write {meant:?}")),
            None => error,
        })
    }

    /// Without a guess at what was meant by anything else.
    fn read(text: &str) -> Result<Self, ScheduleError> {
        let text = text.trim();
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        let duration =
            || parse_duration(rest).map_err(|error| ScheduleError::duration(rest, &error));
        match word {
            "off" if rest.is_empty() => Ok(Self::OnDemand),
            "on" if rest == "demand" => Ok(Self::OnDemand),
            "every" => {
                let period = duration()?;
                if period < MIN_EVERY {
                    let least = display_duration(MIN_EVERY);
                    return Err(ScheduleError(format!(
                        "`every` is too short: write \"every {least}\" or more"
                    )));
                }
                Ok(Self::Every(period))
            }
            "after" => duration().map(Self::After),
            "cron" => {
                let (expression, zone) = match rest.rsplit_once(" in ") {
                    Some((expression, zone)) => (expression.trim(), Some(zone.trim())),
                    None => (rest, None),
                };
                Self::cron(expression, zone)
            }
            _ => Err(ScheduleError(format!(
                "this is no schedule: write one such as {FORMS}"
            ))),
        }
    }
}

const FORMS: &str = "\"every 5m\", \"after 5m\", \"cron 0 3 * * *\", \"cron 0 3 * * * in Europe/Berlin\" or \"off\"";

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        Schedule::parse(text)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn what_is_written_is_read_again() {
        for (text, written) in [
            ("every 90s", "every 1m30s"),
            (" every  5m ", "every 5m"),
            ("after 3s", "after 3s"),
            ("cron 0 9 * * mon-fri", "cron 0 9 * * MON-FRI"),
            ("cron 0 3 * * * in UTC", "cron 0 3 * * *"),
            (
                "cron */10 30 2 * * * in Europe/Berlin",
                "cron */10 30 2 * * * in Europe/Berlin",
            ),
            (
                "cron @daily in America/New_York",
                "cron @daily in America/New_York",
            ),
            ("off", "on demand"),
            ("on demand", "on demand"),
        ] {
            let schedule = Schedule::parse(text).map(|schedule| schedule.to_string());
            assert_eq!(schedule.as_deref(), Ok(written), "{text}");
            let again = Schedule::parse(written).map(|schedule| schedule.to_string());
            assert_eq!(again.as_deref(), Ok(written));
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_what_to_write() {
        for (text, parts) in [
            ("5m", vec!["\"every 5m\""]),
            ("0 3 * * *", vec!["\"cron 0 3 * * *\""]),
            ("", vec!["\"every 5m\"", "\"off\""]),
            ("sometimes", vec!["\"every 5m\""]),
            ("every 10ms", vec!["\"every 100ms\""]),
            ("every", vec!["empty"]),
            ("after 5", vec!["unit"]),
            ("cron 0 25 * * *", vec!["25"]),
            ("cron 0 3 * * * in Europe/Berln", vec!["Europe/Berlin"]),
            ("cron 0 0 31 2 *", vec!["31"]),
            ("cron", vec!["\"cron 0 3 * * *\""]),
            ("cron 0 3 *", vec!["\"cron 0 3 * * *\""]),
            ("cron 5m", vec!["\"every 5m\""]),
            ("cron */90 * * * *", vec!["\"every 90m\""]),
            ("cron @reboot", vec!["on_start", "\"cron 0 3 * * *\""]),
            ("every 0s", vec!["\"30s\""]),
            ("every 15 minutes", vec!["\"every 15m\""]),
            ("cron 0 9 * * MO-FR", vec!["`MO`", "\"MON\""]),
        ] {
            let told = told(text);
            for part in parts {
                assert!(told.contains(part), "{text}: {told}");
            }
            assert_eq!(told.lines().count(), 1, "{told}");
        }
    }
}
