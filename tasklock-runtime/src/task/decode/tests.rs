use std::collections::{BTreeMap, HashSet};
use std::fmt::Debug;

use serde::{Deserialize, Deserializer};

use super::*;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Invoice {
    #[allow(dead_code)]
    number: u32,
    #[serde(default)]
    #[allow(dead_code)]
    lines: Vec<Line>,
    #[serde(default)]
    #[allow(dead_code)]
    by_name: BTreeMap<String, Line>,
    #[allow(dead_code)]
    way: Option<Way>,
    #[serde(default)]
    #[allow(dead_code)]
    iban: Option<Iban>,
}

#[derive(Debug, Deserialize)]
#[allow(dead_code)]
struct Line {
    amount: u8,
}

#[derive(Debug, Deserialize)]
#[allow(dead_code)]
enum Way {
    Post,
    Mail(u8),
    Fax { line: Line },
}

/// A type whose own errors quote what they found.
#[derive(Debug)]
struct Iban;

impl<'de> Deserialize<'de> for Iban {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Err(de::Error::custom(format!("{text}, expected not {text}")))
    }
}

fn mistake<T: DeserializeOwned + Debug>(json: &str) -> String {
    match decode::<T>(Some(json)) {
        Ok(value) => panic!("accepted: {value:?}"),
        Err(mistake) => mistake,
    }
}

#[test]
fn a_mistake_is_told_with_its_place() {
    for (json, expected) in [
        (r#"{}"#, " (line 1, column 2): missing field `number`"),
        (r#"7"#, " (line 1, column 1): expected struct Invoice"),
        (
            r#"{"number":"x"}"#,
            " at `number` (line 1, column 13): expected u32",
        ),
        (
            "{\"number\":\n-1}",
            " at `number` (line 2, column 2): expected u32",
        ),
        (
            r#"{"number":1,"lines":[{"amount":1},{"amount":300}]}"#,
            " at `lines[1].amount` (line 1, column 47): expected u8",
        ),
        (
            r#"{"number":1,"lines":[{"amount":1},{}]}"#,
            " at `lines[1]` (line 1, column 36): missing field `amount`",
        ),
        (
            r#"{"number":1,"by_name":{"x":{"amount":null}}}"#,
            " at `by_name.*.amount` (line 1, column 41): expected u8",
        ),
        (
            r#"{"number":1,"way":{"Fax":{"line":{"amount":true}}}}"#,
            " at `way.Fax.line.amount` (line 1, column 47): expected u8",
        ),
        (
            r#"{"number":1,"way":{"Mail":"x"}}"#,
            " at `way.Mail` (line 1, column 29): expected u8",
        ),
        (
            r#"{"number":1,"way":"Pigeon"}"#,
            " at `way` (line 1, column 26): expected one of `Post`, `Mail`, `Fax`",
        ),
        (
            r#"{"number":1,"nummer":2}"#,
            " (line 1, column 20): unknown field, expected one of `number`, `lines`, `by_name`, \
             `way`, `iban`",
        ),
        (
            r#"{"number":1,"number":2}"#,
            " (line 1, column 20): duplicate field `number`",
        ),
        (
            r#"{"number":1,"iban":"DE"}"#,
            " at `iban` (line 1, column 24): the value is refused by its type",
        ),
        (r#"{"number":1"#, " (line 1, column 11): not valid JSON"),
        (r#"{"number":1}x"#, " (line 1, column 13): not valid JSON"),
    ] {
        assert_eq!(
            mistake::<Invoice>(json),
            format!("the payload does not fit{expected}"),
            "{json}"
        );
    }
}

/// Wherever something secret stands, in a value, a key or the name of a field or variant.
#[test]
fn no_mistake_shows_what_is_in_the_payload() {
    #[derive(Debug, Deserialize)]
    #[serde(tag = "kind", deny_unknown_fields)]
    #[allow(dead_code)]
    enum Tagged {
        A { n: u8 },
        B(Line),
    }
    #[derive(Debug, Deserialize)]
    #[serde(untagged)]
    #[allow(dead_code)]
    enum Untagged {
        A { n: u8 },
        B(u8),
    }
    #[derive(Debug, Deserialize)]
    #[allow(dead_code)]
    struct Flat {
        n: u8,
        #[serde(flatten)]
        rest: BTreeMap<String, u8>,
    }
    fn all(json: &str) -> Vec<String> {
        fn of<T: DeserializeOwned>(json: &str) -> Option<String> {
            decode::<T>(Some(json)).err()
        }
        [
            of::<Invoice>(json),
            of::<Line>(json),
            of::<Way>(json),
            of::<Iban>(json),
            of::<Tagged>(json),
            of::<Untagged>(json),
            of::<Flat>(json),
            of::<(u8, u8)>(json),
            of::<bool>(json),
            of::<char>(json),
            of::<()>(json),
            of::<BTreeMap<u32, u8>>(json),
            of::<HashSet<u8>>(json),
            of::<std::net::IpAddr>(json),
            of::<std::time::Duration>(json),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
    let mut told = 0;
    for secret in [
        "hunter2",
        "4711",
        "4711.5",
        "hunter2, expected 4711",
        "`hunter2`",
    ] {
        let texts = [
            format!("{secret:?}"),
            format!("[{secret:?}]"),
            format!("[1,{secret:?}]"),
            format!("{{{secret:?}:1}}"),
            format!("{{{secret:?}:{{{secret:?}:{secret:?}}}}}"),
            format!("{{\"number\":{secret:?}}}"),
            format!("{{\"number\":1,{secret:?}:1}}"),
            format!("{{\"number\":1,\"lines\":[{secret:?}]}}"),
            format!("{{\"number\":1,\"by_name\":{{{secret:?}:{secret:?}}}}}"),
            format!("{{\"number\":1,\"by_name\":{{{secret:?}:{{\"amount\":{secret:?}}}}}}}"),
            format!("{{\"number\":1,\"way\":{secret:?}}}"),
            format!("{{\"number\":1,\"way\":{{{secret:?}:1}}}}"),
            format!("{{\"number\":1,\"way\":{{\"Mail\":{secret:?}}}}}"),
            format!("{{\"number\":1,\"iban\":{secret:?}}}"),
            format!("{{\"kind\":{secret:?}}}"),
            format!("{{\"kind\":\"A\",\"n\":{secret:?}}}"),
            format!("{{\"kind\":\"A\",\"n\":1,{secret:?}:1}}"),
            format!("{{\"kind\":\"B\",{secret:?}:1}}"),
            format!("{{\"n\":1,{secret:?}:{secret:?}}}"),
            format!("{{\"secs\":1,\"nanos\":{secret:?}}}"),
            format!("{{{secret:?}"),
            format!("[{secret}]"),
            secret.to_owned(),
        ];
        for mistake in texts.iter().flat_map(|json| all(json)) {
            assert!(
                !mistake.contains("hunter2") && !mistake.contains("4711"),
                "{mistake}"
            );
            told += 1;
        }
    }
    assert!(told > 1_000, "{told}");
}

#[test]
fn no_payload_is_null() {
    assert_eq!(decode::<()>(None), Ok(()));
    assert_eq!(decode::<Option<u8>>(None), Ok(None));
    assert_eq!(
        decode::<u8>(None),
        Err("the job has no payload: expected u8".to_owned())
    );
}

/// The client writes `()` as `null`, and a handler may have had no payload once.
#[test]
fn what_fits_is_read() {
    assert_eq!(decode::<()>(Some("null")), Ok(()));
    assert_eq!(decode::<Vec<u8>>(Some("[1,2]")), Ok(vec![1, 2]));
}

#[test]
fn a_payload_that_is_nested_too_deep_is_a_mistake() {
    #[derive(Debug, Deserialize)]
    struct Nested(#[allow(dead_code)] Vec<Nested>);
    let json = "[".repeat(100_000);
    assert!(mistake::<Nested>(&json).contains("not valid JSON"));
}
