//! Which database.

use super::settings::{Environment, database_url};
use crate::error::Error;
use crate::store::{Pool, Source};

/// The pool, or the URL, or what a build without either does.
pub(super) fn source(
    pool: Option<Pool>,
    url: Option<String>,
    env: Environment<'_>,
) -> Result<Source, Error> {
    match (pool, url) {
        (Some(_), Some(_)) => Err(Error::option(
            "database_url and pool",
            "name two databases: give one of them",
        )),
        (Some(pool), None) => Ok(Source::Pool(pool)),
        (None, url) => match database_url(url, env) {
            Some((option, url)) => Ok(Source::Url { option, url }),
            None => default_source(),
        },
    }
}

/// A forgotten variable must not turn N replicas into N locks.
fn default_source() -> Result<Source, Error> {
    if !cfg!(all(debug_assertions, feature = "sqlite")) {
        return Err(Error::option(
            "TASKLOCK_DATABASE_URL",
            "is not set, nor is DATABASE_URL: set one to the database that all replicas share \
             (postgres://…, mysql://…, redis://…, or sqlite://… on a single machine). Only debug builds with \
             the feature `sqlite` fall back to a local file",
        ));
    }
    tracing::warn!(
        "neither TASKLOCK_DATABASE_URL nor DATABASE_URL is set: using sqlite://tasklock.db, whose \
         locks hold on this machine only"
    );
    Ok(Source::Url {
        option: "the default",
        url: "sqlite://tasklock.db".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_databases_are_refused() {
        let pool = Pool::from(crate::store::memory::Memory::new());
        let both = source(Some(pool), Some("memory:".into()), &|_| None);
        assert!(both.is_err_and(|error| error.to_string().contains("two databases")));
    }
}
