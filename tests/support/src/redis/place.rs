//! What belongs to one test, on a server that it may share.

use ::redis::aio::MultiplexedConnection;
use ::redis::{RedisError, cmd};

use super::{Redis, connect, connected};
use crate::fresh;
use crate::server::shared_url;

/// A beginning of keys that nobody else uses. Whatever begins with it, as such or as a hash tag, is deleted with this handle.
///
/// A test process that is killed leaves its keys on a server that is not thrown away; they begin
/// with `t_`.
#[derive(Debug)]
pub struct Place {
    url: String,
    prefix: String,
    /// If the server is thrown away soon, its keys need not be deleted.
    outlived: bool,
}

/// A fresh place on the shared server. `None` with `TASKLOCK_TEST_EMBEDDED_ONLY`.
///
/// # Panics
///
/// If there is no server; the message says what is missing.
pub async fn place() -> Option<Place> {
    let url = shared_url::<Redis>().await?;
    Some(Place::create(url, true))
}

impl Place {
    pub(super) fn create(url: &str, outlived: bool) -> Place {
        Place {
            url: url.to_owned(),
            prefix: format!("t_{}_", fresh::name()),
            outlived,
        }
    }

    /// The server's URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// How its keys begin: lower-case letters, digits and `_`, at most 40 bytes.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// A connection to the server.
    ///
    /// # Panics
    ///
    /// If that fails.
    pub async fn connect(&self) -> MultiplexedConnection {
        connected(&self.url).await
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.outlived {
            return;
        }
        let (url, prefix) = (self.url.clone(), self.prefix.clone());
        fresh::remove(&format!("what begins with {prefix}"), async move {
            delete(&mut connect(&url).await?, &prefix).await
        });
    }
}

/// What is written meanwhile may be missed.
async fn delete(connection: &mut MultiplexedConnection, prefix: &str) -> Result<(), RedisError> {
    let mut cursor = 0_u64;
    loop {
        let mut scan = cmd("SCAN");
        scan.arg(cursor).arg("MATCH").arg(format!("*{prefix}*"));
        let (next, keys): (u64, Vec<Vec<u8>>) =
            scan.arg("COUNT").arg(1000).query_async(connection).await?;
        if !keys.is_empty() {
            cmd("UNLINK").arg(keys).exec_async(connection).await?;
        }
        if next == 0 {
            return Ok(());
        }
        cursor = next;
    }
}
