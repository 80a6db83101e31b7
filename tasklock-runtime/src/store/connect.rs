//! From a URL to a store.

use std::sync::Arc;

use url::Url;

use super::Store;
use super::memory::Memory;
use crate::error::Error;

/// A pool of the application's whose database the leases are to live in.
///
/// Only its connection options are used, not its connections, and not its hooks (`after_connect`): the
/// runtime opens connections of its own, so that a pool the application has exhausted holds up no
/// heartbeat.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Pool {
    /// A Postgres pool.
    #[cfg(feature = "postgres")]
    Postgres(sqlx::PgPool),
    /// A SQLite pool.
    #[cfg(feature = "sqlite")]
    Sqlite(sqlx::SqlitePool),
    /// A MariaDB or MySQL pool.
    #[cfg(feature = "mysql")]
    MySql(sqlx::MySqlPool),
    /// A store in this process's memory.
    Memory(Memory),
}

#[cfg(feature = "postgres")]
impl From<&sqlx::PgPool> for Pool {
    fn from(pool: &sqlx::PgPool) -> Self {
        Self::Postgres(pool.clone())
    }
}

#[cfg(feature = "postgres")]
impl From<sqlx::PgPool> for Pool {
    fn from(pool: sqlx::PgPool) -> Self {
        Self::Postgres(pool)
    }
}

#[cfg(feature = "sqlite")]
impl From<&sqlx::SqlitePool> for Pool {
    fn from(pool: &sqlx::SqlitePool) -> Self {
        Self::Sqlite(pool.clone())
    }
}

#[cfg(feature = "sqlite")]
impl From<sqlx::SqlitePool> for Pool {
    fn from(pool: sqlx::SqlitePool) -> Self {
        Self::Sqlite(pool)
    }
}

#[cfg(feature = "mysql")]
impl From<&sqlx::MySqlPool> for Pool {
    fn from(pool: &sqlx::MySqlPool) -> Self {
        Self::MySql(pool.clone())
    }
}

#[cfg(feature = "mysql")]
impl From<sqlx::MySqlPool> for Pool {
    fn from(pool: sqlx::MySqlPool) -> Self {
        Self::MySql(pool)
    }
}

impl From<Memory> for Pool {
    fn from(memory: Memory) -> Self {
        Self::Memory(memory)
    }
}

/// How the tables are named.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Instead of `tasklock_`.
    pub table_prefix: Option<String>,
    /// A schema, on Postgres; the other SQL stores refuse it.
    pub schema: Option<String>,
    /// Whether a SQLite file that is missing is an error, and not created: so a mistyped path says so.
    pub must_exist: bool,
}

/// Where the database is named.
#[derive(Debug, Clone)]
pub enum Source {
    /// By URL, which came from this option or variable.
    Url {
        /// The option or variable, for errors.
        option: &'static str,
        /// The URL.
        url: String,
    },
    /// By a pool.
    Pool(Pool),
}

/// Opens the store, and makes sure that it can be reached.
///
/// # Errors
///
/// A URL that cannot be used, a feature that is not compiled in, or a database that does not answer.
pub async fn connect(source: Source, options: &Options) -> Result<Arc<dyn Store>, Error> {
    match source {
        Source::Url { option, url } => by_url(option, &url, options).await,
        Source::Pool(Pool::Memory(memory)) => Ok(Arc::new(memory)),
        #[cfg(feature = "postgres")]
        Source::Pool(Pool::Postgres(pool)) => {
            let name = "postgres (the application's pool)".to_owned();
            super::postgres::open(name, (*pool.connect_options()).clone(), options).await
        }
        #[cfg(feature = "sqlite")]
        Source::Pool(Pool::Sqlite(pool)) => {
            super::sqlite::open((*pool.connect_options()).clone(), options).await
        }
        #[cfg(feature = "mysql")]
        Source::Pool(Pool::MySql(pool)) => {
            let name = "mysql (the application's pool)".to_owned();
            super::mysql::open(name, (*pool.connect_options()).clone(), options).await
        }
    }
}

#[cfg_attr(
    not(database),
    expect(unused_variables, reason = "memory has no tables to name")
)]
async fn by_url(
    option: &'static str,
    url: &str,
    options: &Options,
) -> Result<Arc<dyn Store>, Error> {
    let shown = format!("{option} = {:?}", redact(url));
    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
    match scheme {
        "memory" => Ok(Arc::new(Memory::new())),
        #[cfg(feature = "sqlite")]
        "sqlite" => {
            let parsed = url
                .parse()
                .map_err(|error: sqlx::Error| Error::option(shown, error.to_string()))?;
            super::sqlite::open(parsed, options).await
        }
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => {
            let parsed = url
                .parse()
                .map_err(|error: sqlx::Error| Error::option(shown, error.to_string()))?;
            super::postgres::open(redact(url), parsed, options).await
        }
        #[cfg(feature = "mysql")]
        "mysql" | "mariadb" => {
            let parsed = url
                .parse()
                .map_err(|error: sqlx::Error| Error::option(shown, error.to_string()))?;
            super::mysql::open(redact(url), parsed, options).await
        }
        #[cfg(not(feature = "mysql"))]
        "mysql" | "mariadb" => Err(not_compiled_in(shown, "mysql")),
        #[cfg(feature = "redis")]
        "redis" => super::redis::open(redact(url), shown, url, options).await,
        #[cfg(feature = "redis-tls")]
        "rediss" => super::redis::open(redact(url), shown, url, options).await,
        #[cfg(not(feature = "redis"))]
        "redis" => Err(not_compiled_in(shown, "redis")),
        #[cfg(not(feature = "redis-tls"))]
        "rediss" => Err(not_compiled_in(shown, "redis-tls")),
        #[cfg(not(feature = "sqlite"))]
        "sqlite" => Err(not_compiled_in(shown, "sqlite")),
        #[cfg(not(feature = "postgres"))]
        "postgres" | "postgresql" => Err(not_compiled_in(shown, "postgres")),
        "" => Err(Error::option(
            shown,
            format!("is no URL: write one with a scheme, {KNOWN}"),
        )),
        _ => Err(Error::option(
            shown,
            format!(
                "its scheme is not known (in small letters, no blanks or quotes before it): use {KNOWN}"
            ),
        )),
    }
}

const KNOWN: &str = "sqlite://file.db, postgres://user:password@host/database, \
    mysql://user:password@host/database (or mariadb://…), redis://host or memory:";

#[cfg(not(all(
    feature = "sqlite",
    feature = "postgres",
    feature = "mysql",
    feature = "redis-tls"
)))]
fn not_compiled_in(shown: String, feature: &str) -> Error {
    Error::option(
        shown,
        format!(
            "this program was built without the feature `{feature}`: write `tasklock-runtime = {{ \
             version = \"…\", features = [\"{feature}\"] }}` in Cargo.toml"
        ),
    )
}

/// A URL as it may be shown: without password, and without the values of parameters that name one.
#[must_use]
pub fn redact(url: &str) -> String {
    let hidden = || {
        let known = [
            "sqlite",
            "postgres",
            "postgresql",
            "mysql",
            "mariadb",
            "redis",
            "rediss",
        ];
        let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
        format!("{}:…", if known.contains(&scheme) { scheme } else { "" })
    };
    // Whatever it is, it may hold a password anywhere. So may what looks like a path: a password that
    // starts with '/', '?' or '#' ends the host too soon, and the '@' comes after it.
    let Ok(mut parsed) = Url::parse(url) else {
        return hidden();
    };
    let after_host = &parsed[url::Position::BeforePath..];
    if parsed.cannot_be_a_base() && parsed.scheme() != "sqlite" && parsed.scheme() != "memory"
        || parsed.scheme() != "sqlite" && (after_host.contains('@') || after_host.contains("%40"))
    {
        return hidden();
    }
    if parsed.password().is_some() && parsed.set_password(Some("***")).is_err() {
        return hidden();
    }
    let secret = |key: &str| {
        let key = key.to_ascii_lowercase();
        ["pass", "pwd", "secret", "token", "key"]
            .iter()
            .any(|word| key.contains(word))
    };
    if parsed.query_pairs().any(|(key, _)| secret(&key)) {
        let shown: Vec<(String, String)> = parsed
            .query_pairs()
            .map(|(key, value)| {
                let value = if secret(&key) { "***".into() } else { value };
                (key.into_owned(), value.into_owned())
            })
            .collect();
        parsed.query_pairs_mut().clear().extend_pairs(shown);
    }
    parsed.into()
}

#[cfg(test)]
mod tests {
    use super::redact;

    #[test]
    fn passwords_are_not_shown() {
        for (url, shown) in [
            ("postgres://me:s3cret@db/app", "postgres://me:***@db/app"),
            (
                "postgres://me@db/app?password=s3cret&sslmode=require",
                "postgres://me@db/app?password=***&sslmode=require",
            ),
            ("sqlite://tasklock.db", "sqlite://tasklock.db"),
            ("postgres://me:s3 cret@db:x/app", "postgres:…"),
            ("postgres://me:#s3cret@db/app", "postgres:…"),
            ("postgres://me:12/s3cret@db/app", "postgres:…"),
            ("postgres://me:?s3cret@db/app", "postgres:…"),
            ("me:s3cret@db/app", ":…"),
            ("host=db user=me password=s3:cret", ":…"),
            ("jdbc:postgresql://me:s3cret@db/app", ":…"),
            (
                "postgres://db/app?passwd=s3cret",
                "postgres://db/app?passwd=***",
            ),
            ("s3cret", ":…"),
        ] {
            assert_eq!(redact(url), shown);
        }
    }
}
