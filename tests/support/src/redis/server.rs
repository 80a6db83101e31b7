//! What a test may ask of a Redis server of its own, beside what it may ask of any.

use std::time::Duration;

use ::redis::aio::MultiplexedConnection;
use ::redis::{Client, Cmd, InfoDict, RedisError, cmd};

use super::{Place, Server, connected};
use crate::url::host_and_port;
use crate::wait::eventually_async;

/// Within this time a server has done what it does beside its commands.
const BOUND: Duration = Duration::from_secs(60);

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

    /// Changes a setting, such as `appendonly`, also for the server's next starts. It has taken
    /// effect then: what is written from now on is appended.
    ///
    /// # Panics
    ///
    /// If the server is not running, or refuses.
    pub async fn set(&self, name: &str, value: &str) {
        let mut setting = cmd("CONFIG");
        self.tell(setting.arg("SET").arg(name).arg(value)).await;
        self.tell(cmd("CONFIG").arg("REWRITE")).await;
        // Before its first file is written, it does not stop in order.
        for what in ["aof_rewrite_scheduled", "aof_rewrite_in_progress"] {
            self.until("persistence", what, "0").await;
        }
    }

    /// Makes it a replica of the server that this URL names (one that leads through a proxy will
    /// do), and waits until it has what that one has.
    ///
    /// # Panics
    ///
    /// If one of them is not running, or they do not agree.
    pub async fn follow(&self, url: &str) {
        let address = host_and_port(url);
        let (host, port) = address.rsplit_once(':').expect("it ends with the port");
        let client = Client::open(url).expect("it is the URL of a Redis server");
        if let Some(password) = client.get_connection_info().redis_settings().password() {
            self.set("masterauth", password).await;
        }
        self.tell(cmd("REPLICAOF").arg(host).arg(port)).await;
        self.until("replication", "master_link_status", "up").await;
    }

    /// Makes a replica a server that follows nobody.
    ///
    /// # Panics
    ///
    /// If it is not running.
    pub async fn lead(&self) {
        self.tell(cmd("REPLICAOF").arg("NO").arg("ONE")).await;
    }

    /// Waits until the server says this of itself.
    async fn until(&self, section: &str, field: &str, value: &str) {
        let mut connection = self.connect().await;
        let mut asking = cmd("INFO");
        asking.arg(section);
        eventually_async(BOUND, async || {
            let info: Result<InfoDict, RedisError> = asking.query_async(&mut connection).await;
            let said: Option<String> = info.ok()?.get(field);
            (said? == value).then_some(())
        })
        .await;
    }

    async fn tell(&self, command: &Cmd) {
        if let Err(error) = command.exec_async(&mut self.connect().await).await {
            panic!("the test's Redis server refuses: {error}");
        }
    }
}
