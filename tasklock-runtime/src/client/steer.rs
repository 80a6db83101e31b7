//! Seeing and steering jobs.

use std::future::{Future, IntoFuture};
use std::pin::Pin;

use tasklock_grammar::check_name;

use super::Client;
use crate::error::Error;
use crate::store::{Cancelled, Job, JobQuery, JobState, Pausable, Retried};

/// The most jobs of one list.
const MOST_LISTED: usize = 1_000;

impl Client {
    /// A job as it stands; `None` if there is none with this id, or none any more.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] if the store does not answer.
    pub async fn job(&self, id: i64) -> Result<Option<Job>, Error> {
        let _turn = self.heart.turn().await;
        Ok(self.store.job(id).await?)
    }

    /// Lists jobs, the newest first: all of them, or as the methods of [`Jobs`] say.
    ///
    /// ```no_run
    /// # use tasklock_runtime::{Client, Error, JobState};
    /// # async fn example(client: &Client) -> Result<(), Error> {
    /// for job in client.jobs().task("send_invoice").state(JobState::Dead).await? {
    ///     println!("{}: {:?}", job.id, job.last_error);
    ///     client.retry(job.id).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn jobs(&self) -> Jobs<'_> {
        Jobs {
            client: self,
            query: JobQuery {
                task: None,
                states: Vec::new(),
                before: i64::MAX,
                limit: 100,
            },
        }
    }

    /// Cancels a job. One that waits never runs; one that runs loses its lease at its next heartbeat, and is
    /// cancelled once its handler has ended. A job that is being committed by its handler is waited for.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownJob`]; [`Error::Store`] if the store does not answer.
    pub async fn cancel(&self, id: i64) -> Result<Cancelled, Error> {
        let _turn = self.heart.turn().await;
        let cancelled = self.store.cancel(id).await?;
        cancelled.ok_or(Error::UnknownJob(id))
    }

    /// Makes a job due now: one that waits for its time or for its next attempt, or one that has ended, whose attempts,
    /// crashes and refusals then start anew. Also one that is done: it runs once more, with its effects.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownJob`]; [`Error::Store`] if the store does not answer.
    pub async fn retry(&self, id: i64) -> Result<Retried, Error> {
        let _turn = self.heart.turn().await;
        let retried = self.store.retry(id).await?;
        retried.ok_or(Error::UnknownJob(id))
    }

    /// From now on no run of this task is started, by any worker; what runs goes on. Answers whether it was not
    /// paused before. Nobody needs to know the task: mind its name.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] for what is no name; [`Error::Store`] if the store does not answer.
    pub async fn pause_task(&self, task: &str) -> Result<bool, Error> {
        self.pause(Pausable::Task(task.into()), true).await
    }

    /// Ends the pause of a task, and wakes the workers. Answers whether it was paused.
    ///
    /// # Errors
    ///
    /// As [`pause_task`](Self::pause_task).
    pub async fn resume_task(&self, task: &str) -> Result<bool, Error> {
        self.pause(Pausable::Task(task.into()), false).await
    }

    /// As [`pause_task`](Self::pause_task), for all tasks of a queue.
    ///
    /// # Errors
    ///
    /// As [`pause_task`](Self::pause_task).
    pub async fn pause_queue(&self, queue: &str) -> Result<bool, Error> {
        self.pause(Pausable::Queue(queue.into()), true).await
    }

    /// Ends the pause of a queue, and wakes the workers. Answers whether it was paused.
    ///
    /// # Errors
    ///
    /// As [`pause_task`](Self::pause_task).
    pub async fn resume_queue(&self, queue: &str) -> Result<bool, Error> {
        self.pause(Pausable::Queue(queue.into()), false).await
    }

    /// The tasks and queues that are paused.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] if the store does not answer.
    pub async fn paused(&self) -> Result<Vec<Pausable>, Error> {
        let _turn = self.heart.turn().await;
        Ok(self.store.paused().await?)
    }

    async fn pause(&self, what: Pausable, pause: bool) -> Result<bool, Error> {
        let (kind, name) = what.kind_and_name();
        check_name(name)
            .map_err(|error| Error::option(format!("the {kind} {name:?}"), error.to_string()))?;
        let _turn = self.heart.turn().await;
        Ok(self.store.pause(&what, pause).await?)
    }
}

/// A list of jobs to ask for.
#[derive(Debug)]
#[must_use = "nothing is asked before `.await`"]
pub struct Jobs<'a> {
    client: &'a Client,
    query: JobQuery,
}

impl Jobs<'_> {
    /// Of this task alone.
    pub fn task(mut self, task: impl Into<String>) -> Self {
        self.query.task = Some(task.into());
        self
    }

    /// In this state; said several times, in any of these.
    pub fn state(mut self, state: JobState) -> Self {
        self.query.states.push(state);
        self
    }

    /// Older than this one: with the last id of a list, its next page.
    pub fn before(mut self, id: i64) -> Self {
        self.query.before = id;
        self
    }

    /// At most so many, and no more than 1,000; default 100.
    pub fn limit(mut self, jobs: usize) -> Self {
        self.query.limit = jobs.min(MOST_LISTED);
        self
    }
}

impl<'a> IntoFuture for Jobs<'a> {
    type Output = Result<Vec<Job>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(mut self) -> Self::IntoFuture {
        if self.query.states.is_empty() {
            self.query.states = JobState::ALL.to_vec();
        }
        Box::pin(async move {
            let _turn = self.client.heart.turn().await;
            Ok(self.client.store.jobs(&self.query).await?)
        })
    }
}
