//! Redis: a fresh place for each test, and servers that a test may stop.
//!
//! It is as with [`postgres`](crate::postgres); the variable that names a running server is
//! `TASKLOCK_TEST_REDIS_URL`. A Redis server has a few numbered databases only, so that what
//! belongs to one test is told by how its keys begin.

mod place;
mod server;

pub use crate::server::Stop;
pub use place::{Place, place};

use std::time::Duration;

use ::redis::aio::MultiplexedConnection;
use ::redis::{AsyncConnectionConfig, Client, RedisError};

use crate::server::{Kind, Shared};

/// A test's own commands are answered within this time, or the server is as good as gone.
const ANSWER: Duration = Duration::from_secs(30);

/// The kind of server that this module is about.
#[derive(Debug)]
pub enum Redis {}

/// A Redis server of a test's own. It comes back empty, unless the test sets `appendonly`.
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
