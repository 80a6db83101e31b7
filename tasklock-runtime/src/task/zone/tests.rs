//! Names that are zones, and what is said of those that are not.

use super::zone;

#[test]
fn zones() {
    for name in [
        "UTC",
        "Europe/Berlin",
        "America/Argentina/Buenos_Aires",
        "Etc/GMT-2",
        "Australia/Lord_Howe",
    ] {
        assert_eq!(zone(name).unwrap().iana_name(), Some(name));
    }
}

/// The text, and what to write for it.
const MEANT: &[(&str, &str)] = &[
    ("europe/berlin", "Europe/Berlin"),
    ("EUROPE/BERLIN", "Europe/Berlin"),
    ("utc", "UTC"),
    ("Z", "UTC"),
    ("America/New York", "America/New_York"),
    ("America/New-York", "America/New_York"),
    (" Europe/Berlin ", "Europe/Berlin"),
    ("Europe\\Berlin", "Europe/Berlin"),
    ("posix/Europe/Berlin", "Europe/Berlin"),
    ("right/Europe/Berlin", "Europe/Berlin"),
    ("Berlin", "Europe/Berlin"),
    ("new york", "America/New_York"),
    ("Lord_Howe", "Australia/Lord_Howe"),
    ("US/New_York", "America/New_York"),
    ("Europe/New_York", "America/New_York"),
    ("Europe/Berln", "Europe/Berlin"),
    ("Europe/Berlim", "Europe/Berlin"),
    ("Amerika/New_York", "America/New_York"),
    ("Asia/Kolkatta", "Asia/Kolkata"),
    ("Asia/Tokio", "Asia/Tokyo"),
    ("Europe/Zürich", "Europe/Zurich"),
    ("PST", "America/Los_Angeles"),
    ("CEST", "Europe/Berlin"),
    ("UTC+2", "Etc/GMT-2"),
    ("GMT-05:00", "Etc/GMT+5"),
    ("+0200", "Etc/GMT-2"),
    ("+00:00", "UTC"),
];

#[test]
fn what_was_meant() {
    for (text, meant) in MEANT {
        let message = zone(text).expect_err(text).to_string();
        assert!(
            message.contains(&format!("\"{meant}\"")),
            "{text}: {message}"
        );
        assert!(zone(meant).is_ok(), "{meant}");
        assert!(
            message.contains(&*text.escape_debug().to_string()),
            "{message}"
        );
    }
}

/// Whole messages, one of each kind.
#[test]
fn messages() {
    for (text, message) in [
        (
            "",
            "the zone is empty: write one such as \"Europe/Berlin\", or \"UTC\"",
        ),
        (
            "Europe/Berlim",
            "there is no zone `Europe/Berlim`: write \"Europe/Berlin\"",
        ),
        (
            "Mars/Olympus",
            "there is no zone `Mars/Olympus`: write a name of the IANA database, such as \
             \"Europe/Berlin\", or \"UTC\"",
        ),
        (
            "+05:30",
            "`+05:30` is no name of a zone: write that of a place, such as \"Europe/Berlin\"",
        ),
        (
            "UTC+2",
            "`UTC+2` is no name of a zone: write that of a place such as \"Europe/Berlin\", or \
             \"Etc/GMT-2\" for an offset that never changes (its sign is the other way round)",
        ),
        (
            "Local",
            "`Local` may be another zone on each machine: write its name, such as \"Europe/Berlin\"",
        ),
        (
            "Etc/Unknown",
            "there is no zone `Etc/Unknown`: write a name of the IANA database, such as \
             \"Europe/Berlin\", or \"UTC\"",
        ),
    ] {
        let error = zone(text).unwrap_err();
        assert_eq!(error.message(), message);
    }
}

/// Names come from a configuration: none of them leaves the database's folder, and none breaks a line.
#[test]
fn hostile_names() {
    let long = "Europe/".repeat(1_000);
    for name in [
        "../../etc/passwd",
        "/etc/localtime",
        "Europe",
        "Europe/",
        "tzdata.zi",
        "posixrules",
        "LOCALTIME",
        "Factory",
        "Europe/Berlin\0",
        "a\nb",
        "\u{202e}",
        "日本",
        "-",
        "+",
        "+é",
        "UTC+",
        "+1:2:3",
        "+99999",
        &long,
    ] {
        let error = zone(name).expect_err(name);
        assert!(!error.message().contains(char::is_control), "{error:?}");
    }
}
