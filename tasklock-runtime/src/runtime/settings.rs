//! Options from the builder, else from the environment, else by default.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use tasklock_grammar::parse_duration;

use crate::error::Error;
use crate::run::Names;

/// Reads environment variables; tests read a map instead.
pub(super) type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The value that the builder was given, else that of the variable, else none.
pub(super) fn text(given: Option<String>, variable: &str, env: Environment<'_>) -> Option<String> {
    given
        .or_else(|| env(variable))
        .filter(|text| !text.is_empty())
}

/// The names that the builder was given, else those of the variable, separated by commas.
pub(super) fn names(
    given: Option<Names>,
    variable: &'static str,
    env: Environment<'_>,
) -> Option<Names> {
    given.or_else(|| {
        let text = text(None, variable, env)?;
        let names = text
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty());
        Some(Names {
            names: names.map(str::to_owned).collect(),
            from: variable,
        })
    })
}

pub(super) fn parsed<T>(
    given: Option<T>,
    variable: &str,
    env: Environment<'_>,
    what: &str,
) -> Result<Option<T>, Error>
where
    T: FromStr<Err: Display>,
{
    match (given, text(None, variable, env)) {
        (Some(given), _) => Ok(Some(given)),
        (None, None) => Ok(None),
        (None, Some(text)) => text.parse().map(Some).map_err(|error: T::Err| {
            Error::option(
                format!("{variable} = {text:?}"),
                format!("{error}: write {what}"),
            )
        }),
    }
}

pub(super) fn duration(
    given: Option<Duration>,
    variable: &str,
    env: Environment<'_>,
) -> Result<Option<Duration>, Error> {
    match (given, text(None, variable, env)) {
        (Some(given), _) => Ok(Some(given)),
        (None, None) => Ok(None),
        (None, Some(text)) => parse_duration(&text)
            .map(Some)
            .map_err(|error| Error::option(format!("{variable} = {text:?}"), error.message())),
    }
}

/// Where the database is, and which variable says so.
pub(super) fn database_url(
    given: Option<String>,
    env: Environment<'_>,
) -> Option<(&'static str, String)> {
    if let Some(url) = given {
        return Some(("database_url", url));
    }
    ["TASKLOCK_DATABASE_URL", "DATABASE_URL"]
        .into_iter()
        .find_map(|variable| text(None, variable, env).map(|url| (variable, url)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn env(name: &str) -> Option<String> {
        match name {
            "DATABASE_URL" => Some("sqlite://other.db".into()),
            "TASKLOCK_DATABASE_URL" => Some("sqlite://mine.db".into()),
            "TASKLOCK_POLL_INTERVAL" => Some("5M".into()),
            "TASKLOCK_CONCURRENCY" => Some("many".into()),
            "TASKLOCK_WORKER_NAME" => Some(String::new()),
            _ => None,
        }
    }

    #[test]
    fn code_beats_environment_and_ours_beats_the_common_variable() {
        assert_eq!(
            database_url(Some("x".into()), &env),
            Some(("database_url", "x".into()))
        );
        assert_eq!(
            database_url(None, &env),
            Some(("TASKLOCK_DATABASE_URL", "sqlite://mine.db".into()))
        );
        assert_eq!(
            database_url(None, &|name| env(name).filter(|_| name == "DATABASE_URL")),
            Some(("DATABASE_URL", "sqlite://other.db".into()))
        );
        assert_eq!(text(None, "TASKLOCK_WORKER_NAME", &env), None);
    }

    #[test]
    fn names_are_separated_by_commas() {
        let env = |_: &str| Some(" mail,, bank ,".to_owned());
        let read = names(None, "TASKLOCK_QUEUES", &env);
        let read = read.map(|read| (read.from, read.names.join("|")));
        assert_eq!(read, Some(("TASKLOCK_QUEUES", "mail|bank".to_owned())));
        let given = Names {
            names: vec!["x".into()],
            from: "queues",
        };
        let read = names(Some(given), "TASKLOCK_QUEUES", &env);
        assert_eq!(read.map(|read| read.from), Some("queues"));
        assert!(names(None, "TASKLOCK_QUEUES", &|_| None).is_none());
    }

    #[test]
    fn a_wrong_value_names_its_variable() {
        let errors = [
            duration(None, "TASKLOCK_POLL_INTERVAL", &env).err(),
            parsed::<usize>(None, "TASKLOCK_CONCURRENCY", &env, "a number").err(),
        ];
        for (error, variable) in errors
            .into_iter()
            .zip(["TASKLOCK_POLL_INTERVAL", "TASKLOCK_CONCURRENCY"])
        {
            assert!(error.is_some_and(|error| error.to_string().starts_with(variable)));
        }
        assert_eq!(
            parsed(Some(3), "TASKLOCK_CONCURRENCY", &env, "a number").ok(),
            Some(Some(3))
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever stands in a variable is what its text says, or an error of one line that names it.
        #[test]
        fn any_value_is_read_or_refused_by_name(
            value in prop_oneof![any::<String>(), "[0-9]{0,22}(ms|s|m|h|d|)", "[+-]?[0-9]{1,22}"],
        ) {
            let env = |_: &str| Some(value.clone());
            let read = duration(None, "TASKLOCK_X", &env);
            let expected = (!value.is_empty()).then(|| parse_duration(&value)).transpose();
            let number = parsed::<usize>(None, "TASKLOCK_X", &env, "a number");
            let expected_number = (!value.is_empty()).then(|| value.parse::<usize>()).transpose();

            prop_assert_eq!(read.as_ref().ok(), expected.as_ref().ok());
            prop_assert_eq!(number.as_ref().ok(), expected_number.as_ref().ok());
            for error in read.err().into_iter().chain(number.err()) {
                let error = error.to_string();
                let start = format!("TASKLOCK_X = {value:?}");
                prop_assert!(error.starts_with(&start), "{error:?}");
                prop_assert!(!error.contains(char::is_control), "{error:?}");
            }
        }
    }
}
