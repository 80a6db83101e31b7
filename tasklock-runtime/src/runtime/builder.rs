//! The runtime's options.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Runtime;
use super::schedules;
use super::settings::{Environment, names, parsed, text};
use super::source::source;
use super::version::version;
use crate::error::Error;
use crate::lease::{BootClock, Clock, LeaseContext};
use crate::run::{Ended, Handler, Heart, Layers, Publisher, Registry, Selection, Worker};
use crate::store::{Options, Pool, connect, redact};
use crate::task::States;

/// Sets up a [`Runtime`]. It installs no `tracing` subscriber (only [`run()`](crate::run) does): without
/// one, failing handlers and a store that cannot be reached are told to nobody.
///
/// Each option can also be set by an environment variable, named with each
/// method; what the code says wins.
#[derive(Default)]
#[must_use = "nothing runs before `build().await?` and `run().await`"]
pub struct RuntimeBuilder {
    database_url: Option<String>,
    pool: Option<Pool>,
    pub(super) concurrency: Option<usize>,
    pub(super) worker_name: Option<String>,
    pub(super) poll_interval: Option<Duration>,
    pub(super) shutdown_grace: Option<Duration>,
    table_prefix: Option<String>,
    schema: Option<String>,
    migrate: Option<bool>,
    pub(super) payload_limit: Option<usize>,
    pub(super) handle_signals: Option<bool>,
    pub(super) version: Option<String>,
    pub(super) selection: Selection,
    states: States,
    /// Types that were given twice.
    repeated: Vec<&'static str>,
    layers: Layers,
    clock: Option<Arc<dyn Clock>>,
}

/// Without the URL: it may hold a password.
impl fmt::Debug for RuntimeBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeBuilder")
            .field("database_url", &self.database_url.as_deref().map(redact))
            .field("worker_name", &self.worker_name)
            .finish_non_exhaustive()
    }
}

impl RuntimeBuilder {
    /// Where jobs and leases live: `sqlite://file.db`, `postgres://user:password@host/database`,
    /// `mysql://user:password@host/database` (or `mariadb://…`, which is the same), `redis://host`, or `memory:` for tests.
    /// `TASKLOCK_DATABASE_URL`, then `DATABASE_URL`. Without any of them a debug build uses `sqlite://tasklock.db`; a release
    /// build refuses to start.
    pub fn database_url(mut self, url: impl Into<String>) -> Self {
        self.database_url = Some(url.into());
        self
    }

    /// Uses the database of a pool that the application has. Only its connection options are taken, not
    /// its hooks (`after_connect`): the runtime opens connections of its own.
    pub fn pool(mut self, pool: impl Into<Pool>) -> Self {
        self.pool = Some(pool.into());
        self
    }

    /// The most runs at once in this process; default 100. `TASKLOCK_CONCURRENCY`. Where runs take milliseconds, more jobs
    /// than that are claimed, and wait here for a slot: what the worker does within 20 ms, 500 at most. Not so where one of
    /// its tasks has `min_hold`, or a `renew` that depends on its handler: their time counts from the claim.
    pub fn concurrency(mut self, runs: usize) -> Self {
        self.concurrency = Some(runs);
        self
    }

    /// What this worker is called in the store and the logs, for people only: two workers may have
    /// the same name. Default: the host's name and the process id. `TASKLOCK_WORKER_NAME`.
    pub fn worker_name(mut self, name: impl Into<String>) -> Self {
        self.worker_name = Some(name.into());
        self
    }

    /// How often to look for work that was not announced; default 1 s. Where the store announces work
    /// (Postgres by LISTEN/NOTIFY, Redis by SUBSCRIBE, SQLite by its change counter), it is only a safety net and happens
    /// ten times more rarely. MariaDB and MySQL announce nothing: there a job that another process has enqueued, or a
    /// transaction of the application's, waits for up to that long. Due times and
    /// expiring leases that the worker knows of are not polled for: it wakes for them. `TASKLOCK_POLL_INTERVAL`, such as `500ms`.
    pub fn poll_interval(mut self, interval: Duration) -> Self {
        self.poll_interval = Some(interval);
        self
    }

    /// How long handlers may go on after the wish to stop; default 15 s. `TASKLOCK_SHUTDOWN_GRACE`.
    pub fn shutdown_grace(mut self, grace: Duration) -> Self {
        self.shutdown_grace = Some(grace);
        self
    }

    /// The prefix of the tables' names; default `tasklock_`. Workers with different prefixes do not see
    /// each other. `TASKLOCK_TABLE_PREFIX`.
    pub fn table_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.table_prefix = Some(prefix.into());
        self
    }

    /// The schema of the tables, on Postgres, created if it is missing; by default the connection's `search_path` decides.
    /// On MariaDB and MySQL it is an error: there a schema is a database, and the URL names it.
    /// `TASKLOCK_SCHEMA`.
    pub fn schema(mut self, schema: impl Into<String>) -> Self {
        self.schema = Some(schema.into());
        self
    }

    /// Whether to create and upgrade the tables at start; default true. With false, tables that are
    /// missing or of an incompatible version are an error. `TASKLOCK_MIGRATE`, `true` or `false`.
    pub fn migrate(mut self, migrate: bool) -> Self {
        self.migrate = Some(migrate);
        self
    }

    /// Refuses to enqueue payloads of more bytes of JSON, through [`Runtime::client`]; default 1 MiB.
    /// `TASKLOCK_PAYLOAD_LIMIT`, a number of bytes.
    pub fn payload_limit(mut self, bytes: usize) -> Self {
        self.payload_limit = Some(bytes);
        self
    }

    /// Whether SIGTERM and Ctrl-C stop the runtime; default true. `TASKLOCK_HANDLE_SIGNALS`.
    pub fn handle_signals(mut self, handle: bool) -> Self {
        self.handle_signals = Some(handle);
        self
    }

    /// Shares a value with the handlers: those that take a [`State<T>`](crate::State) see it. Any number,
    /// each of a type of its own: the same type twice is an error of [`build`](Self::build), as is a
    /// state that a task of this worker takes and that is not given. What is an `Arc` already is taken as
    /// `State<Arc<T>>`.
    pub fn state<T: Send + Sync + 'static>(mut self, state: T) -> Self {
        if self.states.insert(state) {
            self.repeated.push(std::any::type_name::<T>());
        }
        self
    }

    /// Puts a function around each run: to time it, to open a span or set a task-local for it, to look at how it
    /// ended. It is given the run's lease, and the handler, which it runs, once; it returns what that
    /// returned, or an [`Ended`] of its own. Of several the first is the outermost.
    ///
    /// ```
    /// # use std::time::Instant;
    /// # use tasklock_runtime::Runtime;
    /// let builder = Runtime::builder().around(|lease, handler| async move {
    ///     let started = Instant::now();
    ///     let ended = handler.run().await;
    ///     let (task, outcome) = (lease.task(), ended.outcome().as_str());
    ///     println!("{task}: {outcome} after {:?}", started.elapsed());
    ///     ended
    /// });
    /// ```
    ///
    /// Await the handler in place: one that is spawned elsewhere outlives the abort of its run.
    ///
    /// It is a part of the run: within its span, its timeout and its lease; a panic in it is the run's. An
    /// abort drops it together with the handler, at an await of either, so what must happen in any case
    /// belongs into a `Drop`. Whatever it returns, nothing is recorded of a run whose lease is lost (but for `Cancelled`
    /// and `TimedOut`, which leave the job with it). A handler that is a plain function runs on another thread, in the
    /// same span but without the task-locals; where such a handler is dropped, its lease is held until the thread
    /// has ended.
    pub fn around<F, Fut>(mut self, layer: F) -> Self
    where
        F: Fn(LeaseContext, Handler) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Ended> + Send + 'static,
    {
        self.layers.push(layer);
        self
    }

    /// Reads deadlines on this clock instead of the operating system's, for tests.
    #[doc(hidden)]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Checks the tasks and the options, connects, and sees to the tables and to each task's standing
    /// job: from here on a [`Client`](crate::Client) can trigger them.
    ///
    /// # Errors
    ///
    /// The first of: a task or an option that cannot be used, a database that cannot be reached, and
    /// tables that cannot be brought up to date.
    pub async fn build(self) -> Result<Runtime, Error> {
        let set = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        for told in schedules::unknown(set, Registry::linked_names()) {
            tracing::warn!("{told}");
        }
        self.build_in(&|name| std::env::var(name).ok()).await
    }

    /// As it stands, whatever the environment says.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) async fn build_without_environment(self) -> Result<Runtime, Error> {
        self.build_in(&|_| None).await
    }

    async fn build_in(mut self, env: Environment<'_>) -> Result<Runtime, Error> {
        if let Some(twice) = self.repeated.first() {
            return Err(Error::option(
                "state",
                format!(
                    "two values of the type `{twice}` were given, and a handler could not say which: wrap \
                     one in a type of its own"
                ),
            ));
        }
        let selection = &mut self.selection;
        selection.only = names(selection.only.take(), "TASKLOCK_ONLY", env);
        selection.queues = names(selection.queues.take(), "TASKLOCK_QUEUES", env);
        let given = std::mem::take(&mut selection.schedules);
        selection.schedules = schedules::schedules(given, Registry::linked_names(), env)?;
        let registry = Registry::linked(&self.selection, &self.states)?;
        let mut settings = self.settings(env)?;
        if registry.iter().any(|task| task.definition.runs_on_start()) {
            settings.version = Some(version(self.version, env)?);
        }
        let migrate =
            parsed(self.migrate, "TASKLOCK_MIGRATE", env, "true or false")?.unwrap_or(true);
        let options = Options {
            must_exist: !migrate,
            table_prefix: text(self.table_prefix, "TASKLOCK_TABLE_PREFIX", env),
            schema: text(self.schema, "TASKLOCK_SCHEMA", env),
        };
        let store = connect(source(self.pool, self.database_url, env)?, &options).await?;
        if migrate {
            store.migrate().await?;
        } else {
            store.check_schema().await?;
        }
        let clock = self.clock.unwrap_or_else(|| Arc::new(BootClock));
        let worker = Worker {
            settings,
            heart: Heart::new(Arc::clone(&store), Arc::clone(&clock)),
            store,
            registry: Arc::new(registry),
            states: Arc::new(self.states),
            layers: self.layers,
            events: Publisher::default(),
            clock,
            stop: CancellationToken::new(),
        };
        worker.declare().await?;
        Ok(Runtime { worker })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_same_state_twice_is_refused() {
        let built = Runtime::builder().state(1_u64).state(2_u32).state(3_u64);
        let error = built
            .build_in(&|_| None)
            .await
            .err()
            .map(|error| error.to_string());
        let error = error.unwrap_or_default();
        assert!(
            error.starts_with("state: two values of the type `u64`"),
            "{error}"
        );
    }
}
