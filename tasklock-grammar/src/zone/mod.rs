//! Names of time zones, as far as they can be told without a database.

mod meant;

/// The names of the IANA database, version 2025b, one a line. There will be others.
const NAMES: &str = include_str!("names.txt");

/// Names that mean another zone on each machine.
const NO_PLACE: [&str; 5] = ["localtime", "posixrules", "factory", "local", "system"];

/// Checks a name where no database is at hand, as in a macro.
///
/// A name that is not known is taken, for it may be a new zone's: whoever has a database looks at its start. But not one that
/// most likely means another.
///
/// # Errors
///
/// One line: what is wrong, and what to write.
///
/// ```
/// use tasklock_grammar::check_zone_name;
///
/// assert!(check_zone_name("Europe/Berlin").is_ok());
/// assert!(check_zone_name("Europe/berlin").unwrap_err().contains("\"Europe/Berlin\""));
/// assert!(check_zone_name("Mars/Olympus_Mons").is_ok());
/// ```
pub fn check_zone_name(name: &str) -> Result<(), String> {
    if NAMES.lines().any(|known| known == name) {
        return Ok(());
    }
    let names: Vec<String> = NAMES.lines().map(str::to_owned).collect();
    mistaken(name, &names).map_or(Ok(()), Err)
}

/// What to say of a name that none of these is.
#[must_use]
pub fn unknown_zone(name: &str, names: &[String]) -> String {
    mistaken(name, names).unwrap_or_else(|| {
        format!(
            "there is no zone `{}`: write a name of the IANA database, such as \"Europe/Berlin\", or \
             \"UTC\"",
            name.escape_debug()
        )
    })
}

/// Where it is known what was meant.
fn mistaken(name: &str, names: &[String]) -> Option<String> {
    let shown = name.escape_debug().to_string();
    if name.trim().is_empty() {
        return Some(
            "the zone is empty: write one such as \"Europe/Berlin\", or \"UTC\"".to_owned(),
        );
    }
    if NO_PLACE.contains(&name.to_lowercase().as_str()) {
        return Some(format!(
            "`{shown}` may be another zone on each machine: write its name, such as \"Europe/Berlin\""
        ));
    }
    if let Some(hours) = meant::offset_in_hours(name) {
        return Some(meant::fixed(&shown, hours));
    }
    let meant = meant::name(name, names)?;
    Some(format!("there is no zone `{shown}`: write \"{meant}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_and_mistakes_are_told() {
        for name in [
            "UTC",
            "Etc/GMT-3",
            "America/Argentina/Buenos_Aires",
            "Antarctica/Atlantis",
        ] {
            assert_eq!(check_zone_name(name), Ok(()), "{name}");
        }
        for (name, meant) in [
            ("utc", "\"UTC\""),
            ("Berlin", "\"Europe/Berlin\""),
            ("Europe/Berln", "\"Europe/Berlin\""),
            ("America/New York", "\"America/New_York\""),
            ("UTC+2", "\"Etc/GMT-2\""),
            ("PST", "\"America/Los_Angeles\""),
            ("local", "another zone on each machine"),
            ("", "empty"),
        ] {
            let told = check_zone_name(name).err().unwrap_or_default();
            assert!(told.contains(meant), "{name}: {told}");
        }
    }
}
