//! What somebody meant who wrote a name that no zone has.

use crate::near::distance;

/// The one name that a text probably means.
pub(super) fn name<'a>(name: &str, names: &'a [String]) -> Option<&'a str> {
    let wanted = plain(name);
    if let Some(abbreviated) = abbreviated(&wanted) {
        return names
            .iter()
            .find(|name| *name == abbreviated)
            .map(String::as_str);
    }
    let with = |matches: &dyn Fn(&str) -> bool| {
        let mut found = names.iter().filter(|name| matches(&plain(name)));
        let first = found.next()?;
        // The region alone may be several places, and each is as good as another.
        found.next().is_none().then_some(first.as_str())
    };
    let city = wanted.rsplit('/').next().unwrap_or_default();
    // Other spelling; then the place without its region, or with a wrong one; then slips of the pen.
    with(&|known| known == wanted)
        .or_else(|| with(&|known| known.rsplit('/').next() == Some(city) && known.contains('/')))
        .or_else(|| closest(&wanted, names))
}

/// Without what people write in other ways.
fn plain(name: &str) -> String {
    name.trim()
        .trim_start_matches("posix/")
        .trim_start_matches("right/")
        .to_lowercase()
        .replace([' ', '-'], "_")
        .replace('\\', "/")
}

/// Abbreviations of one country's usage, where it is the only one.
fn abbreviated(plain: &str) -> Option<&'static str> {
    Some(match plain {
        "z" | "gmt" | "zulu" => "UTC",
        "cest" => "Europe/Berlin",
        "eest" => "Europe/Helsinki",
        "edt" | "est5edt" => "America/New_York",
        "cdt" => "America/Chicago",
        "mdt" => "America/Denver",
        "pst" | "pdt" => "America/Los_Angeles",
        "jst" => "Asia/Tokyo",
        "aest" | "aedt" => "Australia/Sydney",
        _ => return None,
    })
}

/// The nearest name, if it is near: one slip in four letters, three in all.
fn closest<'a>(wanted: &str, names: &'a [String]) -> Option<&'a str> {
    let most = (wanted.chars().count() / 4).min(3);
    names
        .iter()
        .map(|name| (distance(wanted, &plain(name), most), name))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name.as_str())
}

/// `+02:00`, `UTC+2` and the like: a fixed offset, in hours if it is a number of them.
pub(super) fn offset_in_hours(name: &str) -> Option<Option<i8>> {
    let upper = name.trim().to_uppercase();
    let digits = upper
        .trim_start_matches("UTC")
        .trim_start_matches("GMT")
        .trim();
    let (sign, digits) = match digits.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-" | "\u{2212}", digits) => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None if digits.len() == 4 => digits.split_at_checked(2)?,
        None => (digits, "00"),
    };
    let is_number =
        |text: &str| (1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if !is_number(hours) || !is_number(minutes) {
        return None;
    }
    let hours = hours.parse::<i8>().ok().filter(|_| minutes == "00");
    Some(hours.map(|hours| sign * hours))
}

/// What to write for a fixed offset.
pub(super) fn fixed(shown: &str, hours: Option<i8>) -> String {
    match hours {
        Some(0) => format!("`{shown}` is no name of a zone: write \"UTC\""),
        // The database has these, and counts them westwards.
        Some(hours @ -12..=14) => format!(
            "`{shown}` is no name of a zone: write that of a place such as \"Europe/Berlin\", or \
             \"Etc/GMT{:+}\" for an offset that never changes (its sign is the other way round)",
            -hours
        ),
        _ => format!(
            "`{shown}` is no name of a zone: write that of a place, such as \"Europe/Berlin\""
        ),
    }
}
