//! A server that belongs to one test, whatever its kind.

mod kind;

pub use kind::{Kind, Shared};
pub(crate) use kind::{shared_url, wanted};

use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::database::{Database, Sql};
use crate::process;
use crate::throwaway::{Started, Throwaway};

/// How a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Transactions are rolled back and connections closed, then it ends in order.
    Fast,
    /// It drops everything, as in a crash; the next start recovers.
    Immediate,
}

/// A throw-away server of a test's own, with its own folder. On drop it is stopped and removed;
/// that also happens when the test panics, or its process is killed.
///
/// Its methods do not block the thread: the code under test goes on beside them.
#[derive(Debug)]
pub struct Server<K> {
    inner: Arc<Mutex<Inner>>,
    url: String,
    kind: PhantomData<K>,
}

#[derive(Debug)]
struct Inner {
    throwaway: Throwaway,
    /// The first of its processes, while it runs.
    pid: Option<i32>,
}

impl<K: Kind> Server<K> {
    /// Prepares and starts one, in about two seconds. `None` with `TASKLOCK_TEST_EMBEDDED_ONLY`.
    ///
    /// # Panics
    ///
    /// If that fails, with the reason: for example the programs that are missing.
    pub async fn start() -> Option<Server<K>> {
        Self::start_in(Vec::new()).await
    }

    /// The same in other surroundings: variables whose names begin with `THROWAWAY_`, as `scripts/lib` tells them.
    ///
    /// # Panics
    ///
    /// As [`start`](Server::start).
    pub async fn start_in(surroundings: Vec<(&'static str, String)>) -> Option<Server<K>> {
        wanted::<K>()?;
        let started = tokio::task::spawn_blocking(move || {
            let mut throwaway = Throwaway::prepare(K::SCRIPT, &surroundings)?;
            let Started { pid, url } = throwaway.start()?;
            let inner = Arc::new(Mutex::new(Inner {
                throwaway,
                pid: Some(pid),
            }));
            Ok::<_, String>(Server {
                inner,
                url,
                kind: PhantomData,
            })
        });
        let started = started.await.expect("it does not panic");
        Some(or_panic::<K, _>("started", started))
    }

    /// Its URL, for a user who may do everything. It stays the same.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The id of its process, or of the one that started its others.
    ///
    /// # Panics
    ///
    /// If the server is stopped.
    pub fn pid(&self) -> i32 {
        lock(&self.inner)
            .pid
            .expect("the server is stopped, it has no process")
    }

    /// Stops it and waits until it has ended. A paused server is continued for that.
    ///
    /// # Panics
    ///
    /// If it is not running, or does not stop.
    pub async fn stop(&self, how: Stop) {
        let mode = match how {
            Stop::Fast => "fast",
            Stop::Immediate => "immediate",
        };
        let stopping = self.blocking(move |inner| {
            inner.throwaway.stop(mode)?;
            inner.pid = None;
            Ok(())
        });
        or_panic::<K, _>("stopped", stopping.await);
    }

    /// Starts it again after [`stop`](Server::stop), with what it has kept, on the same port, and waits
    /// until it accepts connections.
    ///
    /// # Panics
    ///
    /// If it is running, or does not start.
    pub async fn start_again(&self) {
        let starting = self.blocking(|inner| {
            inner.pid = Some(inner.throwaway.start()?.pid);
            Ok(())
        });
        or_panic::<K, _>("started", starting.await);
    }

    /// Stops it and starts it again.
    ///
    /// # Panics
    ///
    /// If either fails.
    pub async fn restart(&self, how: Stop) {
        self.stop(how).await;
        self.start_again().await;
    }

    /// SIGSTOP for all its processes: connections stay open, and nothing answers.
    ///
    /// # Panics
    ///
    /// If it is not running.
    pub async fn pause(&self) {
        let pid = self.pid();
        let pausing = tokio::task::spawn_blocking(move || process::pause_tree(pid));
        pausing
            .await
            .expect("every process of the server stops on SIGSTOP");
    }

    /// SIGCONT for all its processes, after [`pause`](Server::pause).
    ///
    /// # Panics
    ///
    /// If it is not running.
    pub async fn resume(&self) {
        let pid = self.pid();
        let resuming = tokio::task::spawn_blocking(move || process::continue_tree(pid));
        resuming
            .await
            .expect("every process of the server goes on after SIGCONT");
    }

    /// The scripts' answers are waited for on a thread where that hinders nobody.
    async fn blocking(
        &self,
        step: impl FnOnce(&mut Inner) -> Result<(), String> + Send + 'static,
    ) -> Result<(), String> {
        let inner = Arc::clone(&self.inner);
        let running = tokio::task::spawn_blocking(move || step(&mut lock(&inner)));
        running.await.expect("it does not panic")
    }
}

impl<K: Sql> Server<K> {
    /// A fresh database on it. It goes with the server.
    ///
    /// # Panics
    ///
    /// If the server is not running.
    pub async fn database(&self) -> Database<K> {
        Database::create(&self.url, false, "").await
    }
}

/// A panicking holder leaves nothing half-changed.
fn lock(inner: &Mutex<Inner>) -> MutexGuard<'_, Inner> {
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}

fn or_panic<K: Kind, T>(what: &str, result: Result<T, String>) -> T {
    match result {
        Ok(value) => value,
        Err(why) => panic!(
            "the throw-away {} server cannot be {what}: {why}",
            K::PRODUCT
        ),
    }
}
