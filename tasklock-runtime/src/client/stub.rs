//! Enqueueing, as far as its names go: for what is built on them until it is there.

use std::future::IntoFuture;
use std::marker::PhantomData;
use std::pin::Pin;

use serde::Serialize;

use super::Client;
use crate::error::Error;

type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// What became of a job that was enqueued.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Enqueued {}

/// A job that is to be enqueued: nothing happens before `.await`.
#[derive(Debug)]
#[must_use = "nothing is enqueued before `.await`"]
pub struct Enqueue<'a>(PhantomData<&'a Client>);

impl Enqueue<'_> {
    /// Its place among the due.
    pub fn priority(self, priority: i16) -> Self {
        let _ = priority;
        self
    }
}

impl<'a> IntoFuture for Enqueue<'a> {
    type Output = Result<Enqueued, Error>;
    type IntoFuture = Answer<'a, Enqueued>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async { Err(not_yet()) })
    }
}

/// Jobs that are to be enqueued: nothing happens before `.await`.
#[derive(Debug)]
#[must_use = "nothing is enqueued before `.await`"]
pub struct EnqueueMany<'a>(PhantomData<&'a Client>);

impl EnqueueMany<'_> {
    /// Their place among the due.
    pub fn priority(self, priority: i16) -> Self {
        let _ = priority;
        self
    }
}

impl<'a> IntoFuture for EnqueueMany<'a> {
    type Output = Result<Vec<Enqueued>, Error>;
    type IntoFuture = Answer<'a, Vec<Enqueued>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async { Err(not_yet()) })
    }
}

impl Client {
    /// Enqueues a job of a task; the handle's `enqueue` calls this.
    pub fn enqueue<'a, P: Serialize + ?Sized>(&'a self, task: &str, payload: &P) -> Enqueue<'a> {
        let _ = (task, payload);
        Enqueue(PhantomData)
    }

    /// Enqueues jobs of a task; the handle's `enqueue_many` calls this.
    pub fn enqueue_many<'a, P: Serialize>(
        &'a self,
        task: &str,
        payloads: impl IntoIterator<Item = P>,
    ) -> EnqueueMany<'a> {
        let _ = (task, payloads.into_iter());
        EnqueueMany(PhantomData)
    }
}

fn not_yet() -> Error {
    Error::option("enqueue", "cannot be used in this version")
}
