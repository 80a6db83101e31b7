//! What other code can ask of the tasks.

mod stub;

pub use stub::{Enqueue, EnqueueMany, Enqueued};

use std::sync::Arc;

use crate::error::Error;
use crate::store::{Options, Source, Store, Triggered, connect};

/// Asks the store on behalf of web handlers, scripts and tests. Cheap to clone; works without a running
/// runtime in the same process.
#[derive(Debug, Clone)]
pub struct Client {
    store: Arc<dyn Store>,
}

impl Client {
    /// Connects to the database that the workers use. `TASKLOCK_TABLE_PREFIX` and `TASKLOCK_SCHEMA` say
    /// how their tables are named, where not by default; in the worker's own process,
    /// [`Runtime::client`](crate::Runtime::client) knows.
    ///
    /// # Errors
    ///
    /// A URL that cannot be used, a database that does not answer, or tables that are missing: a
    /// client does not create them, the first worker does.
    pub async fn connect(database_url: &str) -> Result<Self, Error> {
        let options = Options {
            must_exist: true,
            table_prefix: std::env::var("TASKLOCK_TABLE_PREFIX").ok(),
            schema: std::env::var("TASKLOCK_SCHEMA").ok(),
        };
        let source = Source::Url {
            option: "database_url",
            url: database_url.to_owned(),
        };
        let store = connect(source, &options).await?;
        store.check_schema().await?;
        Ok(Self { store })
    }

    pub(crate) fn of(store: Arc<dyn Store>) -> Self {
        Self { store }
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
