//! From a URL to a store.

use std::sync::Arc;

use redis::{ConnectionInfo, IntoConnectionInfo, Value};

use super::error::store_error;
use super::link::Link;
use super::scripts::Scripts;
use super::{RedisStore, answer};
use crate::error::Error;
use crate::store::Store;
use crate::store::connect::Options;

const DEFAULT_PREFIX: &str = "tasklock_";
const LONGEST_PREFIX: usize = 64;

/// Opens the store and asks the server whether it is there. `shown` is the URL as it may be shown.
pub(in crate::store) async fn open(
    shown: String,
    option: String,
    url: &str,
    settings: &Options,
) -> Result<Arc<dyn Store>, Error> {
    if let Some(schema) = &settings.schema {
        return Err(Error::option(
            format!("schema = {schema:?}"),
            "Redis has no schemas: use table_prefix, or another database of the server",
        ));
    }
    let prefix = settings.table_prefix.as_deref().unwrap_or(DEFAULT_PREFIX);
    check(prefix)?;
    #[cfg(feature = "redis-tls")]
    install_ciphers();
    let info: ConnectionInfo = url
        .into_connection_info()
        .map_err(|error| Error::option(option, error.to_string()))?;
    let base: Arc<str> = format!("{{{prefix}}}").into();
    let name = if prefix == DEFAULT_PREFIX {
        shown
    } else {
        format!("{shown} (keys {base}:*)")
    };
    let link = Link::new(info.clone(), Arc::clone(&base));
    let connected = link.connection().await;
    connected.map_err(|error| store_error(&name, "connect", &error))?;
    warn_of_eviction(&link, &name).await;
    Ok(Arc::new(RedisStore {
        name,
        info,
        base,
        link: Arc::new(link),
        scripts: Arc::new(Scripts::new()),
    }))
}

fn check(prefix: &str) -> Result<(), Error> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.:".contains(c);
    if !prefix.is_empty() && prefix.len() <= LONGEST_PREFIX && prefix.chars().all(plain) {
        return Ok(());
    }
    Err(Error::option(
        format!("table_prefix = {prefix:?}"),
        "cannot be the hash tag of the keys: write letters, digits, '_', '-', '.' and ':', at least one and at most 64",
    ))
}

/// A server that evicts keys takes leases away. Where it does not say what it does, nothing is said.
async fn warn_of_eviction(link: &Link, name: &str) {
    let mut info = redis::cmd("INFO");
    info.arg("memory");
    let said = link.command(&info).await.unwrap_or(Value::Nil);
    let said = answer::text(&said).unwrap_or_default();
    let mut lines = said.lines();
    let policy = lines.find_map(|line| line.strip_prefix("maxmemory_policy:"));
    if let Some(policy) = policy.filter(|policy| policy.starts_with("allkeys")) {
        tracing::warn!(
            "{name}: the server may evict jobs and leases (maxmemory-policy {policy}): set it to noeviction"
        );
    }
}

/// The ones that sqlx uses, unless the application has chosen others: where two are compiled in, rustls does not choose.
#[cfg(feature = "redis-tls")]
fn install_ciphers() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn prefixes_that_are_no_hash_tag_are_refused() {
        for prefix in ["", "a{b", "}", "a b", &"a".repeat(65)] {
            assert!(check(prefix).is_err(), "{prefix}");
        }
        for prefix in ["tasklock_", "billing:eu-1"] {
            assert!(check(prefix).is_ok(), "{prefix}");
        }
    }
}
