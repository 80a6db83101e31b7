//! Redis: a fresh place for each test, and servers that a test may stop.
//!
//! It is as with [`postgres`](crate::postgres); the variable that names a running server is
//! `TASKLOCK_TEST_REDIS_URL`. A Redis server has a few numbered databases only, so that what
//! belongs to one test is told by how its keys begin.

use std::time::Duration;

use ::redis::aio::MultiplexedConnection;
use ::redis::{AsyncConnectionConfig, Client, RedisError, cmd};

pub use crate::server::Stop;

use crate::fresh;
use crate::kind::{self, Kind, Shared};

/// A test's own commands are answered within this time, or the server is as good as gone.
const ANSWER: Duration = Duration::from_secs(30);

/// The kind of server that this module is about.
#[derive(Debug)]
pub enum Redis {}

/// A Redis server of a test's own. It keeps nothing on disk: it comes back empty.
pub type Server = crate::server::Server<Redis>;

impl Kind for Redis {
    const SCRIPT: &'static str = "redis";
    const PRODUCT: &'static str = "Redis";
    const URL_VARIABLE: &'static str = "TASKLOCK_TEST_REDIS_URL";

    fn shared() -> &'static Shared {
        static SHARED: Shared = Shared::new();
        &SHARED
    }
}

/// A beginning of keys that nobody else uses. Whatever begins with it is deleted with this handle.
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
    let url = kind::shared_url::<Redis>().await?;
    Some(Place::create(url, true))
}

impl Place {
    fn create(url: &str, outlived: bool) -> Place {
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

impl Server {
    /// A fresh place on it. It goes with the server.
    pub fn place(&self) -> Place {
        Place::create(self.url(), false)
    }

    /// A connection to it.
    ///
    /// # Panics
    ///
    /// If the server is not running.
    pub async fn connect(&self) -> MultiplexedConnection {
        connected(self.url()).await
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
        scan.arg(cursor).arg("MATCH").arg(format!("{prefix}*"));
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

async fn connected(url: &str) -> MultiplexedConnection {
    match connect(url).await {
        Ok(connection) => connection,
        Err(error) => panic!("cannot connect to the test server: {error}"),
    }
}

async fn connect(url: &str) -> Result<MultiplexedConnection, RedisError> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(ANSWER))
        .set_response_timeout(Some(ANSWER));
    let client = Client::open(url)?;
    client
        .get_multiplexed_async_connection_with_config(&config)
        .await
}
