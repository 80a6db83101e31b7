//! What one kind of server has that others have in other words.

use std::sync::OnceLock;

use crate::throwaway::Throwaway;

/// A kind of server that tests use.
pub trait Kind: Send + Sync + 'static {
    /// Its script is `scripts/lib/servers/SCRIPT.sh`.
    const SCRIPT: &'static str;
    /// What people call it.
    const PRODUCT: &'static str;
    /// The variable of the environment that names a running one.
    const URL_VARIABLE: &'static str;

    /// The one that all tests of this process share.
    fn shared() -> &'static Shared;
}

/// A server that all tests of this process share: its URL, or why there is none.
#[derive(Debug, Default)]
pub struct Shared {
    // Never dropped: it ends with its input, which ends with this process.
    server: OnceLock<Result<(String, Option<Throwaway>), String>>,
}

impl Shared {
    pub(crate) const fn new() -> Shared {
        Shared {
            server: OnceLock::new(),
        }
    }

    /// It blocks while a throw-away server starts.
    fn url<K: Kind>(&self) -> Result<&str, &str> {
        let server = self
            .server
            .get_or_init(|| match std::env::var(K::URL_VARIABLE) {
                Ok(url) if !url.is_empty() => Ok((url, None)),
                _ => {
                    let mut throwaway = Throwaway::prepare(K::SCRIPT, &[])?;
                    Ok((throwaway.start()?.url, Some(throwaway)))
                }
            });
        server.as_ref().map(|(url, _)| &**url).map_err(|why| &**why)
    }
}

/// `None` if this run leaves servers out.
pub(crate) fn wanted<K: Kind>() -> Option<()> {
    if crate::embedded_only() {
        crate::say_left_out(K::PRODUCT);
        return None;
    }
    Some(())
}

/// The URL of the shared server. `None` with `TASKLOCK_TEST_EMBEDDED_ONLY`; panics if there is no
/// server.
pub(crate) async fn shared_url<K: Kind>() -> Option<&'static str> {
    wanted::<K>()?;
    let url = tokio::task::spawn_blocking(|| K::shared().url::<K>())
        .await
        .expect("it does not panic");
    match url {
        Ok(url) => Some(url),
        Err(why) => panic!(
            "no {} server for the tests: {why}. Run scripts/test, which installs what is missing; \
             or set {} to a running server, or TASKLOCK_TEST_EMBEDDED_ONLY=1 to leave such tests \
             out",
            K::PRODUCT,
            K::URL_VARIABLE
        ),
    }
}
