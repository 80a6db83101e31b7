//! Who enqueues jobs while workers and store are tormented: one by one, by the batch, under keys, and in
//! transactions that it commits or rolls back; who cancels some and has others run again. It keeps a book of
//! what it was answered. All of it is drawn from a seed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tasklock_runtime::store::{Options, Source, Store, connect};
use tasklock_runtime::{Cancelled, Client, Enqueued};
use tasklock_test_support::proxy::{Mode, Proxy};
use tasklock_tests::torment::names;
use tokio::time::{sleep, timeout};

use crate::booking::{BEGIN, in_transaction};
use crate::database::Database;
use crate::draw::Draw;
use crate::mistaken;
use crate::place::Place;
use crate::policy;

/// What was asked for, and what came back.
#[derive(Debug, Default)]
pub(crate) struct Book {
    pub(crate) orders: Vec<Order>,
    /// Jobs of which it was said that they were cancelled while they waited.
    pub(crate) cancelled: Vec<i64>,
}

/// Jobs that were to be enqueued at once: all of them or none.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    pub(crate) task: String,
    /// What each of them carries.
    pub(crate) numbers: Vec<u64>,
    pub(crate) key: Option<String>,
    pub(crate) within: bool,
    /// Said at once, for each of them; else the worker that takes the job finds out the name that it needs.
    pub(crate) resources: Option<Vec<String>>,
    pub(crate) reply: Reply,
}

#[derive(Debug, Clone)]
pub(crate) enum Reply {
    Enqueued(Vec<Enqueued>),
    /// An error, or nothing in time.
    Unknown,
    RolledBack,
}

/// So many jobs of a task wait or run at most: there is always some work, and never more than is done soon.
const BACKLOG: usize = 6;
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);

/// A clerk at work.
#[derive(Debug)]
pub(crate) struct Clerk {
    stop: Arc<AtomicBool>,
    /// It has asked for a job of each task.
    began: Arc<AtomicBool>,
    work: thread::JoinHandle<Book>,
}

impl Clerk {
    /// Enqueues jobs of these tasks from now on; with a mistake, if one is named.
    pub(crate) fn start(place: &Place, tasks: &[&str], seed: u64, mistake: &'static str) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let url = place.url();
        let proxy = (!place.is_sqlite()).then(|| Proxy::before(&url).expect("a port is free"));
        let desk = Desk {
            way: proxy.as_ref().map_or(url.clone(), |proxy| proxy.url(&url)),
            url,
            proxy,
            tasks: tasks.iter().map(|task| (*task).to_owned()).collect(),
            draw: Draw::new(seed),
            number: 0,
            book: Book::default(),
            mistake,
        };
        // On a thread of its own, for scenarios block theirs.
        let until = Arc::clone(&stop);
        let began = Arc::new(AtomicBool::new(false));
        let begins = Arc::clone(&began);
        let work = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let runtime = runtime.expect("a runtime can be made");
            runtime.block_on(desk.work(&begins, &until))
        });
        Self { stop, began, work }
    }

    /// Whether it has asked for a job of each task.
    pub(crate) fn has_begun(&self) -> bool {
        self.began.load(Ordering::Acquire)
    }

    /// Enqueues nothing any more; answers what it has done.
    pub(crate) async fn stop(self) -> Book {
        self.stop.store(true, Ordering::Release);
        let joined = tokio::task::spawn_blocking(|| self.work.join()).await;
        let book = joined.expect("a thread can be waited for");
        book.expect("the clerk does not fail")
    }
}

struct Desk {
    url: String,
    /// The same, by the proxy.
    way: String,
    proxy: Option<Proxy>,
    tasks: Vec<String>,
    draw: Draw,
    number: u64,
    book: Book,
    mistake: &'static str,
}

/// What it works with, opened again when the store was away.
struct Tools {
    client: Client,
    store: Arc<dyn Store>,
    database: Database,
}

impl Desk {
    async fn work(mut self, began: &AtomicBool, stop: &AtomicBool) -> Book {
        let mut tools: Option<Tools> = None;
        while !stop.load(Ordering::Acquire) {
            if tools.is_none() {
                tools = timeout(PATIENCE, self.open()).await.ok().flatten();
            }
            if let (Some(open), false) = (&tools, began.load(Ordering::Acquire)) {
                for task in self.tasks.clone() {
                    self.order(&open.client, task).await;
                }
                began.store(true, Ordering::Release);
            }
            if let Some(open) = &mut tools {
                match timeout(PATIENCE, backlog(&mut open.database)).await {
                    Ok(Some(backlog)) => {
                        let task = self.draw.below(self.tasks.len() as u64);
                        let task = self.tasks[usize::try_from(task).expect("it fits")].clone();
                        let waiting = backlog.iter().filter(|waiting| **waiting == task);
                        if waiting.count() < BACKLOG {
                            self.order(&open.client, task).await;
                        }
                        if self.draw.below(4) == 0 {
                            self.steer(&open.client, &*open.store).await;
                        }
                    }
                    _ => tools = None,
                }
            }
            sleep(Duration::from_millis(20 + self.draw.below(60))).await;
        }
        self.book
    }

    async fn open(&self) -> Option<Tools> {
        let source = Source::Url {
            option: "the test",
            url: self.url.clone(),
        };
        let client = mistaken::with(self.mistake, Client::connect(&self.way)).await;
        let store = connect(source, &Options::default()).await;
        let database = Database::connect(&self.url).await;
        Some(Tools {
            client: client.ok()?,
            store: store.ok()?,
            database: database.ok()?,
        })
    }

    /// Some answers never come, or come too late.
    async fn order(&mut self, client: &Client, task: String) {
        let draw = &mut self.draw;
        let kind = draw.below(10);
        // No transaction can be part of Redis.
        let within = kind > 6 && !self.url.starts_with("redis:");
        let count = if matches!(kind, 3 | 4) {
            2 + draw.below(4)
        } else {
            1
        };
        let keyed = matches!(kind, 0 | 5 | 6) || within && draw.below(2) == 0;
        let key = draw.below(2);
        let commits = draw.below(2) == 0;
        let begin = draw.one_of(&BEGIN);
        let fault = draw.below(12);
        let moment = Duration::from_millis(draw.below(15));
        let patience = match fault {
            0 => moment / 3,
            1 => Duration::from_millis(250),
            _ => PATIENCE,
        };
        let numbers: Vec<u64> = (self.number..self.number + count).collect();
        let shares = policy::of(&task).is_some_and(|policy| policy.shares);
        let says = shares && draw.below(3) > 0;
        let mut order = Order {
            task,
            resources: says.then(|| numbers.iter().map(|number| names::name(*number)).collect()),
            numbers,
            key: keyed.then(|| format!("key {key}")),
            within,
            reply: Reply::Unknown,
        };
        self.number += count;
        let proxy = self.proxy.as_ref().filter(|_| fault == 1);
        // In the midst of it: before the COMMIT, or just after.
        let loses = async {
            if let Some(proxy) = proxy {
                sleep(moment).await;
                proxy.set(Mode::LoseReplies);
            }
            std::future::pending::<()>().await;
        };
        let asked = async {
            if within {
                in_transaction(client, &self.way, &order, begin, commits).await
            } else if count > 1 {
                let mut many = client.enqueue_many(&order.task, &order.numbers);
                if let Some(resources) = &order.resources {
                    many = many.resources(resources.iter().cloned());
                }
                many.await.ok()
            } else {
                let mut one = client.enqueue(&order.task, &order.numbers[0]);
                if let Some(key) = &order.key {
                    one = one.unique(key);
                }
                if let Some(resources) = &order.resources {
                    one = one.resource(&*resources[0]);
                }
                one.await.ok().map(|answer| vec![answer])
            }
        };
        let answered = async {
            tokio::select! {
                answer = asked => answer,
                () = loses => None,
            }
        };
        let answer = timeout(patience, answered).await.ok().flatten();
        if let Some(proxy) = proxy {
            proxy.set(Mode::Pass);
            proxy.reset_all();
        }
        order.reply = match answer {
            _ if within && !commits => Reply::RolledBack,
            Some(answers) => Reply::Enqueued(answers),
            None => Reply::Unknown,
        };
        self.book.orders.push(order);
    }

    /// Of the jobs that it knows of last.
    async fn steer(&mut self, client: &Client, store: &dyn Store) {
        let known = self
            .book
            .orders
            .iter()
            .rev()
            .filter_map(|order| match &order.reply {
                Reply::Enqueued(answers) => Some(answers[0].id()),
                _ => None,
            });
        let known: Vec<i64> = known.take(20).collect();
        let deed = self.draw.below(6);
        let Some(job) = (!known.is_empty()).then(|| self.draw.one_of(&known)) else {
            return;
        };
        match deed {
            0 | 1 => {
                let cancelled = timeout(PATIENCE, client.cancel(job)).await;
                if matches!(cancelled, Ok(Ok(Cancelled::Now))) {
                    self.book.cancelled.push(job);
                }
            }
            2 | 3 => drop(timeout(PATIENCE, client.retry(job)).await),
            _ => drop(timeout(PATIENCE, store.prune(10)).await),
        }
    }
}

/// The tasks of the jobs that wait or run, one for each, but for the standing ones.
async fn backlog(database: &mut Database) -> Option<Vec<String>> {
    let query = "SELECT task FROM tasklock_job
        WHERE state IN ('ready', 'running') AND coalesce(unique_key, '-') <> ''
            AND task <> 'tasklock.lease'";
    let rows = database.run(query).await.ok()?;
    let tasks = rows.into_iter().map(|mut row| row.swap_remove(0));
    Some(tasks.flatten().collect())
}
