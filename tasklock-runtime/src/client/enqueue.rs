//! Enqueueing jobs: what is said of a job, and where it is written.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;
use tasklock_grammar::check_name;

use super::Client;
use super::new_job::{first, new_job, refuse, set_delay, set_resource};
use crate::error::Error;
use crate::store::{Due, EnqueueTransaction, Enqueued, NewJob};

type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// A job that is to be enqueued: nothing happens before `.await`, or `.within(&mut tx).await`.
#[must_use = "nothing is enqueued before `.await`"]
pub struct Enqueue<'a> {
    client: &'a Client,
    /// Or the first thing that is wrong with it.
    job: Result<NewJob, Error>,
}

/// Jobs of one task that are to be enqueued, all of them or none (on Redis: each 1,000): nothing happens before `.await`, or
/// `.within(&mut tx).await`.
#[must_use = "nothing is enqueued before `.await`"]
pub struct EnqueueMany<'a> {
    client: &'a Client,
    jobs: Result<Vec<NewJob>, Error>,
}

impl Client {
    /// Enqueues a job of a task, by name; the handle's `enqueue` calls this. No worker needs to know the task
    /// yet: the job waits for one that does.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # use tasklock_runtime::{Client, Error};
    /// # async fn example(client: &Client) -> Result<(), Error> {
    /// let job = client
    ///     .enqueue("send_invoice", &42)
    ///     .delay(Duration::from_secs(60))
    ///     .unique("invoice:42")
    ///     .await?;
    /// println!("job {}, new: {}", job.id(), job.is_new());
    /// # Ok(())
    /// # }
    /// ```
    pub fn enqueue<'a, P: Serialize + ?Sized>(&'a self, task: &str, payload: &P) -> Enqueue<'a> {
        Enqueue {
            client: self,
            job: new_job(self, task, payload),
        }
    }

    /// Enqueues jobs of a task, by name; the handle's `enqueue_many` calls this. They are written in one
    /// transaction, with a statement per 1,000 of them (or per 4 MiB of payloads): all of them or none. On
    /// SQLite, where one transaction at a time writes, tens of thousands belong into several calls. On Redis
    /// each of these statements is all or none, and an error says how many jobs are written.
    pub fn enqueue_many<'a, P: Serialize>(
        &'a self,
        task: &str,
        payloads: impl IntoIterator<Item = P>,
    ) -> EnqueueMany<'a> {
        let jobs = payloads.into_iter().enumerate();
        let job = |(nth, payload): (usize, P)| {
            new_job(self, task, &payload).map_err(|error| match error {
                Error::Job { task, problem } => Error::Job {
                    task,
                    problem: format!("number {nth} of them, counted from 0: {problem}"),
                },
                other => other,
            })
        };
        EnqueueMany {
            client: self,
            jobs: jobs.map(job).collect(),
        }
    }
}

impl<'a> Enqueue<'a> {
    /// Due so long after it was written, by the store's clock; at most 3650 days. Default: at once.
    pub fn delay(self, delay: Duration) -> Self {
        self.with(|job| set_delay(job, delay))
    }

    /// Due at this instant, by the store's clock. An instant that has passed is due at once, ahead of what fell due
    /// after it.
    pub fn at(self, due: Timestamp) -> Self {
        self.with(|job| {
            job.due = Due::At(due.as_microsecond());
            Ok(())
        })
    }

    /// Only if no job of this task with the same key waits or runs; else that one is answered, as it stands:
    /// [`Enqueued::Existing`]. Exact, however many enqueue at once. 1 to 128 bytes, as a task's name.
    pub fn unique(self, key: impl Into<String>) -> Self {
        self.with(|job| {
            let key = key.into();
            check_name(&key)
                .map_err(|error| refuse(&job.task, format!("the unique key {key:?}: {error}")))?;
            job.unique_key = Some(key);
            Ok(())
        })
    }

    /// Under a second lease of this name, which each of its runs takes: the handle says it of a task with a `resource`;
    /// here it is said of a task that is enqueued by name. Where it is not said, the worker that takes the job finds
    /// it out.
    pub fn resource(self, name: impl Into<String>) -> Self {
        self.with(|job| set_resource(job, name.into()))
    }

    /// Instead of the task's `priority`: each point puts it ahead of others as if it had fallen due a second earlier,
    /// so nothing waits for ever.
    pub fn priority(self, priority: i16) -> Self {
        self.with(|job| {
            job.priority = priority;
            Ok(())
        })
    }

    /// Enqueues it in the caller's own transaction: the job is there when that commits, which wakes the workers,
    /// and never if it rolls back. The transaction must be one of the database that holds the jobs.
    ///
    /// # Errors
    ///
    /// [`Error::OtherDatabase`]; or the database's error, after which the transaction has to be rolled back, and run
    /// again if [its kind](crate::StoreError::kind) is `Busy`.
    pub async fn within<T: EnqueueTransaction + ?Sized>(
        self,
        transaction: &mut T,
    ) -> Result<Enqueued, Error> {
        let job = self.job?;
        let insertion = self.client.store.insertion();
        let enqueued = transaction
            .insert(&*insertion, std::slice::from_ref(&job))
            .await?;
        first(&job, enqueued)
    }

    fn with(mut self, set: impl FnOnce(&mut NewJob) -> Result<(), Error>) -> Self {
        if let Ok(job) = &mut self.job
            && let Err(error) = set(job)
        {
            self.job = Err(error);
        }
        self
    }
}

impl<'a> EnqueueMany<'a> {
    /// As [`Enqueue::delay`], for each.
    pub fn delay(self, delay: Duration) -> Self {
        self.with(|job| set_delay(job, delay))
    }

    /// As [`Enqueue::at`], for each.
    pub fn at(self, due: Timestamp) -> Self {
        self.with(|job| {
            job.due = Due::At(due.as_microsecond());
            Ok(())
        })
    }

    /// As [`Enqueue::resource`], with a name for each of them, in their order.
    pub fn resources(self, names: impl IntoIterator<Item = String>) -> Self {
        let mut names = names.into_iter();
        self.with(|job| match names.next() {
            Some(name) => set_resource(job, name),
            None => Err(refuse(
                &job.task,
                "there are fewer names of resources than jobs".to_owned(),
            )),
        })
    }

    /// As [`Enqueue::priority`], for each.
    pub fn priority(self, priority: i16) -> Self {
        self.with(|job| {
            job.priority = priority;
            Ok(())
        })
    }

    /// As [`Enqueue::within`]; answers in the order of the payloads.
    ///
    /// # Errors
    ///
    /// As [`Enqueue::within`].
    pub async fn within<T: EnqueueTransaction + ?Sized>(
        self,
        transaction: &mut T,
    ) -> Result<Vec<Enqueued>, Error> {
        let insertion = self.client.store.insertion();
        transaction.insert(&*insertion, &self.jobs?).await
    }

    fn with(mut self, mut set: impl FnMut(&mut NewJob) -> Result<(), Error>) -> Self {
        if let Ok(jobs) = &mut self.jobs
            && let Err(error) = jobs.iter_mut().try_for_each(&mut set)
        {
            self.jobs = Err(error);
        }
        self
    }
}

impl<'a> IntoFuture for Enqueue<'a> {
    type Output = Result<Enqueued, Error>;
    type IntoFuture = Answer<'a, Enqueued>;

    /// Where the store's answer is lost, the job may have been enqueued or not: the error's kind is `Unavailable`.
    /// With a [unique](Enqueue::unique) key it can be enqueued again without harm.
    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let job = self.job?;
            if job.unique_key.is_none() {
                return Ok(self.client.heart.enqueue(job).await?);
            }
            let _turn = self.client.heart.turn().await;
            let enqueued = self
                .client
                .store
                .enqueue(std::slice::from_ref(&job))
                .await?;
            first(&job, enqueued)
        })
    }
}

impl<'a> IntoFuture for EnqueueMany<'a> {
    type Output = Result<Vec<Enqueued>, Error>;
    type IntoFuture = Answer<'a, Vec<Enqueued>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let jobs = self.jobs?;
            if jobs.is_empty() {
                return Ok(Vec::new());
            }
            let _turn = self.client.heart.turn().await;
            Ok(self.client.store.enqueue(&jobs).await?)
        })
    }
}

/// Without the payload, which is never shown.
impl fmt::Debug for Enqueue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let task = self.job.as_ref().map(|job| &job.task);
        f.debug_struct("Enqueue")
            .field("task", &task)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for EnqueueMany<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let jobs = self.jobs.as_ref().map(Vec::len);
        f.debug_struct("EnqueueMany")
            .field("jobs", &jobs)
            .finish_non_exhaustive()
    }
}
