//! What is left of a worker inside one process when the future of `run()` has ended, or was dropped.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use tasklock_runtime::store::{Options, Source, Store, connect};
use tasklock_runtime::{LeaseContext, LeaseLost, Runtime, locked_task};
use tasklock_test_support::wait::eventually_async;
use tasklock_test_support::{postgres, sqlite};
use tokio::runtime::Handle;
use tokio::sync::MutexGuard;
use tokio::task::JoinHandle;

const BOUND: Duration = Duration::from_secs(20);

/// Threads and tasks are counted: one test at a time.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
static CONTEXTS: Mutex<Option<HashMap<String, LeaseContext>>> = Mutex::new(None);
static BLOCKING: Mutex<bool> = Mutex::new(false);
static GO_ON: Condvar = Condvar::new();

fn tell(lease: LeaseContext) {
    let mut contexts = CONTEXTS.lock().expect("no holder panics");
    let contexts = contexts.get_or_insert_with(HashMap::new);
    contexts.insert(lease.task().to_owned(), lease);
}

#[locked_task(ttl = "1s")]
async fn waits(lease: LeaseContext) {
    tell(lease);
    std::future::pending().await
}

/// Blocks its thread, and so cannot be dropped, until the test lets it go on.
#[locked_task(ttl = "1s")]
async fn blocks(lease: LeaseContext) {
    tell(lease);
    {
        let blocking = BLOCKING.lock().expect("no holder panics");
        let went_on = GO_ON.wait_while(blocking, |blocking| *blocking);
        drop(went_on.expect("no holder panics"));
    }
    std::future::pending().await
}

/// A worker of this process with two runs under way.
struct Case {
    store: Arc<dyn Store>,
    running: JoinHandle<Result<(), tasklock_runtime::Error>>,
    shutdown: tasklock_runtime::ShutdownHandle,
    _unblocked: Unblocked,
    _alone: MutexGuard<'static, ()>,
}

impl Case {
    async fn start(url: &str, tasks: &[&'static str]) -> Self {
        let alone = ALONE.lock().await;
        eventually_async(BOUND, async || threads().is_empty().then_some(())).await;
        *CONTEXTS.lock().expect("no holder panics") = None;
        *BLOCKING.lock().expect("no holder panics") = true;
        let runtime = Runtime::builder()
            .database_url(url)
            .only(tasks.iter().copied())
            .shutdown_grace(Duration::ZERO)
            .handle_signals(false)
            .build()
            .await
            .expect("the database is there");
        let (client, shutdown) = (runtime.client(), runtime.shutdown_handle());
        let source = Source::Url {
            option: "the test",
            url: url.to_owned(),
        };
        let store = connect(source, &Options::default()).await;
        let case = Self {
            store: store.expect("the database is there"),
            running: tokio::spawn(runtime.run()),
            shutdown,
            _unblocked: Unblocked,
            _alone: alone,
        };
        for task in tasks {
            client.trigger(task).await.expect("it was declared");
            eventually_async(BOUND, async || context(task)).await;
        }
        case
    }

    async fn drop_run(&mut self) {
        self.running.abort();
        let ended = (&mut self.running).await;
        assert!(ended.is_err_and(|error| error.is_cancelled()));
    }

    /// What is left of this task's lease by the store's clock.
    async fn left(&self, task: &str) -> Option<Duration> {
        let row = self.store.standing(task).await.expect("it answers");
        row.expect("it was declared").left
    }

    /// No task of tokio's and no thread is left but those of before.
    async fn nothing_is_left(self, tasks: usize) {
        self.store.close().await;
        drop(self.store);
        *CONTEXTS.lock().expect("no holder panics") = None;
        let left = async || (threads(), Handle::current().metrics().num_alive_tasks());
        let gone = async || (left().await == (Vec::new(), tasks)).then_some(());
        let gone = tasklock_test_support::wait::try_eventually_async(BOUND, gone).await;
        assert!(gone.is_some(), "{:?}, not {tasks}", left().await);
    }
}

/// A failed test must not leave a blocked thread behind.
struct Unblocked;

impl Drop for Unblocked {
    fn drop(&mut self) {
        go_on();
    }
}

fn go_on() {
    *BLOCKING.lock().unwrap_or_else(PoisonError::into_inner) = false;
    GO_ON.notify_all();
}

fn context(task: &str) -> Option<LeaseContext> {
    let contexts = CONTEXTS.lock().expect("no holder panics");
    contexts.as_ref()?.get(task).cloned()
}

/// The names of this process's threads that are the runtime's or its database driver's.
fn threads() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").expect("this is Linux");
    tasks
        .flatten()
        // A thread can end while we look.
        .filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok())
        .filter(|name| name.starts_with("tasklock-") || name.starts_with("sqlx-"))
        .collect()
}

fn alive_tasks() -> usize {
    Handle::current().metrics().num_alive_tasks()
}

macro_rules! on_each {
    ($($case:ident)+) => {
        $(
            mod $case {
                #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
                async fn on_sqlite() {
                    let file = super::sqlite::file();
                    super::$case(&file.url()).await;
                }

                #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
                async fn on_postgres() {
                    if let Some(database) = super::postgres::database().await {
                        super::$case(database.url()).await;
                    }
                }
            }
        )+
    };
}

on_each! {
    a_dropped_run_gives_up_its_lease_beside_one_that_blocks
    a_dropped_runtime_leaves_nothing_behind
    a_stopped_runtime_leaves_nothing_behind
}

async fn a_dropped_run_gives_up_its_lease_beside_one_that_blocks(url: &str) {
    let mut case = Case::start(url, &["blocks", "waits"]).await;
    let [waits, blocks] = ["waits", "blocks"].map(|task| context(task).expect("it has started"));
    case.drop_run().await;
    // Whoever still has the context knows at once, not when the lease runs out.
    let lost = tokio::time::timeout(BOUND, waits.lost()).await;
    assert_eq!(lost.ok(), Some(LeaseLost::Released));
    // It is not given back, and renewed no more: it expires, while the other one is kept.
    let expired = async || (case.left("waits").await == Some(Duration::ZERO)).then_some(());
    eventually_async(BOUND, expired).await;
    assert!(blocks.check().is_ok(), "{blocks:?}");
    let left = case.left("blocks").await;
    assert!(left > Some(Duration::ZERO), "{left:?}");

    go_on();
    let lost = tokio::time::timeout(BOUND, blocks.lost()).await;
    assert_eq!(lost.ok(), Some(LeaseLost::Released));
}

async fn a_dropped_runtime_leaves_nothing_behind(url: &str) {
    let tasks = alive_tasks();
    let mut case = Case::start(url, &["waits"]).await;
    assert!(!threads().is_empty() && alive_tasks() > tasks);
    case.drop_run().await;
    case.nothing_is_left(tasks).await;
}

async fn a_stopped_runtime_leaves_nothing_behind(url: &str) {
    let tasks = alive_tasks();
    let mut case = Case::start(url, &["waits"]).await;
    case.shutdown.shutdown();
    let ended = (&mut case.running).await.expect("it does not panic");
    assert!(ended.is_ok(), "{ended:?}");
    case.nothing_is_left(tasks).await;
}
