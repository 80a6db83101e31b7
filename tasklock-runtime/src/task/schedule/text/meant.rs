//! What somebody meant who wrote a schedule in another way.

use tasklock_grammar::{duration_of_words, nearest};

use super::Schedule;

/// How a schedule starts.
const WORDS: [&str; 4] = ["every", "after", "cron", "off"];
/// What others call `off`.
const OFF: [&str; 8] = [
    "none", "never", "no", "false", "disable", "disabled", "stop", "-",
];
/// What a cron may be in a word, without the `@`.
const NICKNAMES: [&str; 7] = [
    "yearly", "annually", "monthly", "weekly", "daily", "midnight", "hourly",
];

const NONE: &str = "this is no schedule";

/// What is wrong, and the whole schedule that was probably meant.
pub(super) fn schedule(text: &str) -> Option<(&'static str, String)> {
    let plain = plain(text);
    let words: Vec<&str> = plain.split_whitespace().collect();
    let (first, rest) = words.split_first()?;
    let first = first.to_lowercase();
    let guesses = match word(&first, rest.is_empty()) {
        Some("off") => vec![(NONE, "off".to_owned())],
        Some("cron") => crons(rest),
        Some(word) => rates(word, rest),
        None => [rates("every", &words), crons(&words)].concat(),
    };
    let mut guesses = guesses.into_iter();
    guesses.find(|(_, guess)| guess != text.trim() && Schedule::read(guess).is_ok())
}

/// As an attribute would say it, in quotes and after an equals sign, and with the dashes of a word processor.
fn plain(text: &str) -> String {
    let dash = |c| matches!(c, '\u{2010}'..='\u{2015}' | '\u{2212}');
    text.replace(dash, "-").replace(['"', '\'', '`', '='], " ")
}

fn word(first: &str, alone: bool) -> Option<&'static str> {
    if alone && OFF.contains(&first) {
        return Some("off");
    }
    let word = match first {
        "each" | "@every" => "every",
        first => nearest(first, WORDS)?,
    };
    let has_more = word != "off";
    (has_more != alone || word == "off" && alone).then_some(word)
}

type Guess = (&'static str, String);

/// A duration in words, with something behind it.
fn rates(word: &str, words: &[&str]) -> Vec<Guess> {
    let longest = (1..=words.len())
        .rev()
        .find_map(|count| Some((count, duration_of_words(&words[..count].join(" "))?)));
    let Some((count, duration)) = longest else {
        return Vec::new();
    };
    let what = match words.get(count).map(|word| word.to_lowercase()) {
        None => NONE,
        Some(more) if more == "jitter" => "`jitter` is said in the attribute alone",
        Some(_) => "only a cron has a zone, and after a duration comes nothing",
    };
    vec![(what, format!("{word} {duration}"))]
}

fn crons(words: &[&str]) -> Vec<Guess> {
    const ZONE: &str = "the zone of a cron comes after `in`";
    if let ["@every", rest @ ..] = words {
        return rates("every", rest);
    }
    let cron = |words: &[&str]| match words {
        [word] => {
            let word = word.trim_start_matches('@').to_lowercase();
            let nickname = nearest(&word, NICKNAMES).unwrap_or(&word);
            format!("cron @{nickname}")
        }
        _ => format!("cron {}", words.join(" ")),
    };
    let marks = ["in", "tz", "tz:", "zone", "timezone"];
    let mark = words
        .iter()
        .position(|word| marks.contains(&word.to_lowercase().as_str()));
    match (mark, words) {
        (Some(mark), _) => match &words[mark + 1..] {
            [] => vec![("the zone is missing", cron(&words[..mark]))],
            zone => vec![(
                ZONE,
                format!("{} in {}", cron(&words[..mark]), zone.join("_")),
            )],
        },
        (None, [fields @ .., zone]) => vec![
            (NONE, cron(words)),
            (ZONE, format!("{} in {zone}", cron(fields))),
        ],
        (None, []) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant_is_written_whole() {
        for (text, meant) in [
            ("OFF", "off"),
            ("disabled", "off"),
            ("Every 5m", "every 5m"),
            ("evry 5m", "every 5m"),
            ("every = \"5m\"", "every 5m"),
            ("5 minutes", "every 5m"),
            ("each 1 hour 30 min", "every 1h30m"),
            ("every 5m in Europe/Berlin", "every 5m"),
            ("every 5m jitter 1m", "every 5m"),
            ("After 5m", "after 5m"),
            ("every 5M", "every 5m"),
            ("every 15 minutes", "every 15m"),
            ("crn 0 3 * * *", "cron 0 3 * * *"),
            ("0 3 * * *", "cron 0 3 * * *"),
            ("0 3 * * * in UTC", "cron 0 3 * * * in UTC"),
            ("daily", "cron @daily"),
            ("@dayly", "cron @daily"),
            ("cron daily", "cron @daily"),
            ("@every 5m", "every 5m"),
            ("cron @every 5m", "every 5m"),
            ("cron 0 9 * * MON\u{2013}FRI", "cron 0 9 * * MON-FRI"),
            (
                "cron 0 3 * * * Europe/Berlin",
                "cron 0 3 * * * in Europe/Berlin",
            ),
            (
                "cron 0 3 * * * IN Europe/Berlin",
                "cron 0 3 * * * in Europe/Berlin",
            ),
            (
                "cron 0 3 * * * tz America/New York",
                "cron 0 3 * * * in America/New_York",
            ),
            ("0 3 * * * Asia/Tokyo", "cron 0 3 * * * in Asia/Tokyo"),
            ("cron 0 3 * * * in", "cron 0 3 * * *"),
        ] {
            let guess = schedule(text).map(|(_, guess)| guess);
            assert_eq!(guess.as_deref(), Some(meant), "{text}");
            let told = Schedule::parse(text).err().map(|error| error.to_string());
            let told = told.unwrap_or_default();
            assert!(told.ends_with(&format!("write {meant:?}")), "{told}");
        }
        for text in ["", "sometimes", "every", "cron 0 25 * * *", "cron @reboot"] {
            assert_eq!(schedule(text), None, "{text}");
        }
    }
}
