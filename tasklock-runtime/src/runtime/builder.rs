//! The runtime's options.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Runtime;
use super::settings::{Environment, database_url, duration, parsed, text};
use crate::error::Error;
use crate::lease::{BootClock, Clock};
use crate::run::{Registry, Selection, Settings, Worker};
use crate::store::{Options, Pool, Source, connect, redact};
use crate::task::{States, TaskSpec};

const CONCURRENCY: usize = 100;
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Kubernetes kills after 30 s; writing the last ends and closing may take 10 s after it.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(15);
/// More permits than any semaphore of tokio's may have would panic.
const MOST_CONCURRENCY: usize = 1 << 20;

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
    concurrency: Option<usize>,
    worker_name: Option<String>,
    poll_interval: Option<Duration>,
    shutdown_grace: Option<Duration>,
    table_prefix: Option<String>,
    schema: Option<String>,
    migrate: Option<bool>,
    handle_signals: Option<bool>,
    selection: Selection,
    states: States,
    /// Types that were given twice.
    repeated: Vec<&'static str>,
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
    /// Where jobs and leases live: `sqlite://file.db`, `postgres://user:password@host/database`, or
    /// `memory:` for tests. `TASKLOCK_DATABASE_URL`, then `DATABASE_URL`. Without any of them a debug
    /// build uses `sqlite://tasklock.db`; a release build refuses to start.
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

    /// The most runs at once in this process; default 100. `TASKLOCK_CONCURRENCY`.
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
    /// (Postgres by LISTEN/NOTIFY, SQLite by its change counter), it is only a safety net and happens
    /// ten times more rarely. Due times and expiring leases that the worker knows of are not polled
    /// for: it wakes for them. `TASKLOCK_POLL_INTERVAL`, such as `500ms`.
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

    /// Whether SIGTERM and Ctrl-C stop the runtime; default true. `TASKLOCK_HANDLE_SIGNALS`.
    pub fn handle_signals(mut self, handle: bool) -> Self {
        self.handle_signals = Some(handle);
        self
    }

    /// Shares a value with the handlers: those that take a [`State<T>`](crate::State) see it. Any number,
    /// each of a type of its own; what is shared already goes in as an `Arc`, and is taken as
    /// `State<Arc<T>>`.
    pub fn state<T: Send + Sync + 'static>(mut self, state: T) -> Self {
        if self.states.insert(state) {
            self.repeated.push(std::any::type_name::<T>());
        }
        self
    }

    /// Runs only these of the linked tasks. `TASKLOCK_ONLY`, names separated by commas.
    pub fn only<N: Into<String>>(mut self, tasks: impl IntoIterator<Item = N>) -> Self {
        self.selection.only = Some(tasks.into_iter().map(Into::into).collect());
        self
    }

    /// Refuses to start unless this task is linked: `.require::<refresh_rates>()`. Naming the handle
    /// also links the library that it comes from, as [`link!`](crate::link) does. It looks at what is
    /// linked, not at what [`only`](Self::only) leaves.
    pub fn require<T: TaskSpec>(mut self) -> Self {
        self.selection.required.push(T::NAME);
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
        self.build_in(&|name| std::env::var(name).ok()).await
    }

    async fn build_in(mut self, env: Environment<'_>) -> Result<Runtime, Error> {
        if self.selection.only.is_none()
            && let Some(only) = text(None, "TASKLOCK_ONLY", env)
        {
            self.selection.only_from = "TASKLOCK_ONLY";
            self.selection.only = Some(
                only.split(',')
                    .map(|task| task.trim().to_owned())
                    .filter(|task| !task.is_empty())
                    .collect(),
            );
        }
        let registry = Registry::linked(&self.selection, &self.states)?;
        let settings = self.settings(env)?;
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
        let worker = Worker {
            settings,
            store,
            registry,
            states: Arc::new(self.states),
            clock: self.clock.unwrap_or_else(|| Arc::new(BootClock)),
            stop: CancellationToken::new(),
        };
        worker.declare().await?;
        Ok(Runtime { worker })
    }

    fn settings(&self, env: Environment<'_>) -> Result<Settings, Error> {
        let concurrency = parsed(
            self.concurrency,
            "TASKLOCK_CONCURRENCY",
            env,
            "a number from 1",
        )?
        .unwrap_or(CONCURRENCY);
        if !(1..=MOST_CONCURRENCY).contains(&concurrency) {
            return Err(Error::option(
                format!("concurrency = {concurrency}"),
                format!("write a number from 1 to {MOST_CONCURRENCY}"),
            ));
        }
        let poll_interval =
            duration(self.poll_interval, "TASKLOCK_POLL_INTERVAL", env)?.unwrap_or(POLL_INTERVAL);
        if poll_interval < Duration::from_millis(10) {
            return Err(Error::option(
                format!("poll_interval = {poll_interval:?}"),
                "would keep the database busy with asking: write 10ms or more",
            ));
        }
        let name = text(self.worker_name.clone(), "TASKLOCK_WORKER_NAME", env)
            .unwrap_or_else(default_worker_name);
        tasklock_grammar::check_name(&name)
            .map_err(|error| Error::option(format!("worker_name = {name:?}"), error.to_string()))?;
        Ok(Settings {
            name,
            concurrency,
            poll_interval,
            shutdown_grace: duration(self.shutdown_grace, "TASKLOCK_SHUTDOWN_GRACE", env)?
                .unwrap_or(SHUTDOWN_GRACE),
            handle_signals: parsed(
                self.handle_signals,
                "TASKLOCK_HANDLE_SIGNALS",
                env,
                "true or false",
            )?
            .unwrap_or(true),
        })
    }
}

/// The pool, or the URL, or what a build without either does.
fn source(pool: Option<Pool>, url: Option<String>, env: Environment<'_>) -> Result<Source, Error> {
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

fn default_worker_name() -> String {
    let system = rustix::system::uname();
    let host = system.nodename().to_string_lossy();
    format!("{host}-{}", std::process::id())
}

/// A forgotten variable must not turn N replicas into N locks.
fn default_source() -> Result<Source, Error> {
    if !cfg!(debug_assertions) {
        return Err(Error::option(
            "TASKLOCK_DATABASE_URL",
            "is not set, nor is DATABASE_URL: set one to the database that all replicas share \
             (postgres://…, or sqlite://… on a single machine). Only debug builds fall back to a \
             local file",
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

    fn problem(builder: RuntimeBuilder) -> String {
        match builder.settings(&|_| None) {
            Ok(settings) => panic!("accepted: {settings:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn options_out_of_range_are_refused() {
        assert!(problem(Runtime::builder().concurrency(0)).starts_with("concurrency = 0"));
        assert!(problem(Runtime::builder().concurrency(usize::MAX)).contains("from 1 to"));
        assert!(problem(Runtime::builder().poll_interval(Duration::ZERO)).contains("10ms or more"));
    }

    #[test]
    fn a_worker_name_that_a_store_could_not_hold_is_refused() {
        assert!(problem(Runtime::builder().worker_name("a\0b")).starts_with("worker_name"));
    }

    #[test]
    fn two_databases_are_refused() {
        let pool = Pool::from(crate::store::memory::Memory::new());
        let both = source(Some(pool), Some("memory:".into()), &|_| None);
        assert!(both.is_err_and(|error| error.to_string().contains("two databases")));
    }
}
