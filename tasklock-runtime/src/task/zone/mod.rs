//! Time zones by their IANA names.

#[cfg(test)]
mod tests;

use std::error::Error;
use std::fmt;

use jiff::tz::{self, TimeZone, TimeZoneDatabase};
use tasklock_grammar::unknown_zone;

/// Looks a zone up by its IANA name, such as `Europe/Berlin` or `UTC`.
///
/// The machine's own database comes first, because it is kept up to date; the one that is built into
/// the program, if it is, serves where the machine has none. What is found is a copy: it does not change
/// while the program runs, whatever happens to the files.
///
/// The name is to be spelled as the database spells it. One zone thus has one name in the store, and
/// two replicas that spell it differently do not take turns at changing a schedule.
///
/// # Errors
///
/// An unknown name, with the one that was probably meant, or a machine without any database.
pub(crate) fn zone(name: &str) -> Result<TimeZone, ZoneError> {
    let found = known(name).ok_or_else(|| unknown(name))?;
    match found.iana_name() {
        Some(own) if own == name => Ok(found),
        Some(own) => Err(ZoneError(format!(
            "there is no zone `{}`: write \"{own}\"",
            name.escape_debug()
        ))),
        None => Err(unknown(name)),
    }
}

/// Why a text names no zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ZoneError(String);

impl ZoneError {
    /// One line: what is wrong, and what to write.
    #[must_use]
    pub(crate) fn message(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ZoneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for ZoneError {}

/// Files beside those of the zones, which are no place's: what they say is the machine's affair.
const NO_PLACE: [&str; 3] = ["localtime", "posixrules", "Factory"];

fn is_no_place(name: &str) -> bool {
    NO_PLACE
        .iter()
        .any(|no_place| no_place.eq_ignore_ascii_case(name))
}

/// jiff takes names in any case.
fn known(name: &str) -> Option<TimeZone> {
    // It needs no database, and a machine may have none.
    if name.eq_ignore_ascii_case("UTC") {
        return Some(TimeZone::UTC);
    }
    if is_no_place(name) {
        return None;
    }
    let built_in = || TimeZoneDatabase::bundled().get(name).ok();
    let found = tz::db().get(name).ok().or_else(built_in)?;
    // `Etc/Unknown` says that a zone is not known.
    (!found.is_unknown()).then_some(found)
}

fn unknown(name: &str) -> ZoneError {
    let mut names: Vec<String> = names();
    names.sort_unstable();
    // One is always there: UTC.
    let message = if names.len() <= 1 && !name.trim().is_empty() {
        format!(
            "the zone `{}` cannot be looked up, for this machine has no time zone database: install \
             the package tzdata, or name the folder of one in TZDIR",
            name.escape_debug()
        )
    } else {
        unknown_zone(name, &names)
    };
    ZoneError(message)
}

fn names() -> Vec<String> {
    let names = |database: &TimeZoneDatabase| -> Vec<String> {
        database
            .available()
            .map(|name| name.as_str().to_owned())
            .filter(|name| !is_no_place(name))
            .collect()
    };
    let own = names(tz::db());
    if own.len() > 1 {
        own
    } else {
        names(&TimeZoneDatabase::bundled())
    }
}
