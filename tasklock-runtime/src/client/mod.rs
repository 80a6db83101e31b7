//! What other code can ask of the tasks.

mod enqueue;
mod new_job;
mod steer;

pub use enqueue::{Enqueue, EnqueueMany};
pub use steer::Jobs;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::error::Error;
use crate::lease::BootClock;
use crate::run::{Heart, LeaseRequest};
use crate::store::{Options, Pool, Source, Store, Triggered, connect};

/// The longest payload, in bytes of JSON, where nothing else is said: 1 MiB.
pub(crate) const PAYLOAD_LIMIT: usize = 1 << 20;

/// Asks the store on behalf of web handlers, scripts and tests. Cheap to clone; works without a running
/// runtime in the same process.
#[derive(Debug, Clone)]
pub struct Client {
    store: Arc<dyn Store>,
    heart: Arc<Heart>,
    worker: String,
    shutdown: CancellationToken,
    payload_limit: usize,
}

impl Client {
    /// Connects to the database that the workers use. `TASKLOCK_TABLE_PREFIX` and `TASKLOCK_SCHEMA` say
    /// how their tables are named, where not by default, and `TASKLOCK_PAYLOAD_LIMIT` the most bytes of a payload; in the worker's own process,
    /// [`Runtime::client`](crate::Runtime::client) knows.
    ///
    /// # Errors
    ///
    /// A URL that cannot be used, a database that does not answer, or tables that are missing: a
    /// client does not create them, the first worker does.
    pub async fn connect(database_url: &str) -> Result<Self, Error> {
        Self::open(Source::Url {
            option: "database_url",
            url: database_url.to_owned(),
        })
        .await
    }

    /// The same on the database of a pool that the application has. Only its connection options are taken: the
    /// client opens connections of its own, when it needs them (at most six on Postgres, MariaDB and MySQL, one on SQLite;
    /// while it has named leases or waits for one, two more).
    ///
    /// # Errors
    ///
    /// As [`connect`](Self::connect).
    pub async fn from_pool(pool: impl Into<Pool>) -> Result<Self, Error> {
        Self::open(Source::Pool(pool.into())).await
    }

    async fn open(source: Source) -> Result<Self, Error> {
        let options = Options {
            must_exist: true,
            table_prefix: std::env::var("TASKLOCK_TABLE_PREFIX").ok(),
            schema: std::env::var("TASKLOCK_SCHEMA").ok(),
        };
        let limit = match std::env::var("TASKLOCK_PAYLOAD_LIMIT") {
            Ok(text) if !text.is_empty() => text.parse().map_err(|error| {
                Error::option(
                    format!("TASKLOCK_PAYLOAD_LIMIT = {text:?}"),
                    format!("{error}: write a number of bytes"),
                )
            })?,
            _ => PAYLOAD_LIMIT,
        };
        let store = connect(source, &options).await?;
        store.check_schema().await?;
        let heart = Heart::new(store, Arc::new(BootClock));
        let worker = format!("client {}", std::process::id());
        Ok(Self::of(heart, worker, CancellationToken::new(), limit))
    }

    pub(crate) fn of(
        heart: Arc<Heart>,
        worker: String,
        shutdown: CancellationToken,
        payload_limit: usize,
    ) -> Self {
        Self {
            store: Arc::clone(heart.store()),
            heart,
            worker,
            shutdown,
            payload_limit,
        }
    }

    /// A lease on a name of your choice, for code that is no task: it excludes whoever else asks for the same name, in any
    /// process. 1 to 128 bytes, as a task's name; names and tasks are apart.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # use tasklock_runtime::{Client, Error};
    /// # async fn example(client: &Client) -> Result<(), Error> {
    /// let lease = client.lease("tenant:42").ttl(Duration::from_secs(30));
    /// if let Some(guard) = lease.try_acquire().await? {
    ///     println!("ours, fence {}", guard.fence());
    ///     guard.release().await;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn lease(&self, name: impl Into<String>) -> LeaseRequest {
        LeaseRequest {
            heart: Arc::clone(&self.heart),
            name: name.into(),
            worker: self.worker.clone(),
            ttl: None,
            shutdown: self.shutdown.clone(),
            run: None,
        }
    }

    /// Refuses payloads that are longer, in bytes of JSON; default 1 MiB. They are read with every claim, so
    /// what is large belongs into a table or file of its own, and its name into the payload.
    #[must_use]
    pub fn payload_limit(mut self, bytes: usize) -> Self {
        self.payload_limit = bytes;
        self
    }

    /// Makes a task due now; the handle's `trigger` calls this. One that is running is left alone.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownTask`] if no worker with this task has ever started on this store;
    /// [`Error::Store`] if the store does not answer.
    pub async fn trigger(&self, task: &str) -> Result<Triggered, Error> {
        self.store
            .trigger(task)
            .await?
            .ok_or_else(|| Error::UnknownTask(task.to_owned()))
    }
}
