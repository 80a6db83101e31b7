//! Schedules as text: in the store, in the environment, in a builder's options and in `preview`.

use std::error::Error;
use std::fmt;

use tasklock_grammar::{CronError, DurationError, MIN_EVERY, display_duration, parse_duration};

use super::Schedule;
use crate::task::zone::ZoneError;

/// Why a text is no schedule: one line, with what to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScheduleError(String);

impl ScheduleError {
    pub(super) fn cron(expression: &str, error: &CronError) -> Self {
        Self(pointed(expression, error.range(), error.message()))
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
        let text = text.trim();
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        match word {
            "off" if rest.is_empty() => Ok(Self::OnDemand),
            "on" if rest == "demand" => Ok(Self::OnDemand),
            "every" => {
                let period =
                    parse_duration(rest).map_err(|error| ScheduleError::duration(rest, &error))?;
                if period < MIN_EVERY {
                    let least = display_duration(MIN_EVERY);
                    return Err(ScheduleError(format!(
                        "`every` is too short: write \"every {least}\" or more"
                    )));
                }
                Ok(Self::Every(period))
            }
            "after" => parse_duration(rest)
                .map(Self::After)
                .map_err(|error| ScheduleError::duration(rest, &error)),
            "cron" => {
                let (expression, zone) = match rest.rsplit_once(" in ") {
                    Some((expression, zone)) => (expression.trim(), Some(zone.trim())),
                    None => (rest, None),
                };
                Self::cron(expression, zone)
            }
            _ => Err(ScheduleError(unknown(text))),
        }
    }
}

fn unknown(text: &str) -> String {
    const FORMS: &str = "\"every 5m\", \"after 5m\", \"cron 0 3 * * *\", \"cron 0 3 * * * in Europe/Berlin\" or \"off\"";
    let meant = ["every", "cron"]
        .map(|word| format!("{word} {text}"))
        .into_iter()
        .find(|meant| Schedule::parse_known(meant));
    match meant {
        Some(meant) => format!("this is no schedule: write {meant:?}"),
        None => format!("this is no schedule: write one such as {FORMS}"),
    }
}

impl Schedule {
    fn parse_known(text: &str) -> bool {
        let known = text.starts_with("every ") || text.starts_with("cron ");
        known && Self::parse(text).is_ok()
    }
}

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
            ("hourly", vec!["\"every 5m\""]),
            ("every 10ms", vec!["\"every 100ms\""]),
            ("every", vec!["empty"]),
            ("after 5", vec!["unit"]),
            ("cron 0 25 * * *", vec!["25"]),
            ("cron 0 3 * * * in Europe/Berln", vec!["Europe/Berlin"]),
            ("cron 0 0 31 2 *", vec!["31"]),
        ] {
            let told = told(text);
            for part in parts {
                assert!(told.contains(part), "{text}: {told}");
            }
            assert_eq!(told.lines().count(), 1, "{told}");
        }
    }
}
