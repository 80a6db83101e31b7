//! The heartbeat's own connection.

use std::sync::Arc;

use redis::{RedisError, RedisResult, Value};

use super::answer;
use super::args::Args;
use super::error::store_error;
use super::link::Link;
use super::scripts::{Script, Scripts};
use super::verbs::job_rows;
use crate::error::StoreError;
use crate::lease::LeaseKey;
use crate::store::{JobRow, Renewal, Renewer, StoreFuture};

/// It is opened by the runtime that it is used on: the task that drives a connection lives there.
pub(super) struct RedisRenewer {
    pub(super) name: String,
    /// Makes a fresh one.
    pub(super) link: Box<dyn Fn() -> Link + Send>,
    pub(super) open: Option<Link>,
    pub(super) scripts: Arc<Scripts>,
}

impl RedisRenewer {
    fn link(&mut self) -> &Link {
        self.open.get_or_insert_with(|| (self.link)())
    }

    fn failed<'a>(&'a self, call: &'static str) -> impl Fn(RedisError) -> StoreError + 'a {
        move |error| store_error(&self.name, call, &error)
    }

    async fn run(
        &mut self,
        call: &'static str,
        script: impl Fn(&Scripts) -> &Script,
        args: Args,
    ) -> Result<Value, StoreError> {
        let scripts = Arc::clone(&self.scripts);
        let answer = self.link().run(script(&scripts), args).await;
        answer.map_err(self.failed(call))
    }

    fn read<T>(&self, call: &'static str, answer: RedisResult<T>) -> Result<T, StoreError> {
        answer.map_err(self.failed(call))
    }
}

impl Renewer for RedisRenewer {
    fn connect(&mut self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let connected = self.link().connection().await.map(drop);
            self.read("connect for the heartbeat", connected)
        })
    }

    fn renew<'a>(&'a mut self, renewals: &'a [Renewal]) -> StoreFuture<'a, Vec<i64>> {
        Box::pin(async move {
            let args = renewals.iter().fold(Args::default(), Args::renewal);
            let call = "renew leases";
            let renewed = self.run(call, |scripts| &scripts.renew, args).await?;
            self.read(call, answer::numbers(renewed))
        })
    }

    fn inspect<'a>(&'a mut self, jobs: &'a [i64]) -> StoreFuture<'a, Vec<JobRow>> {
        Box::pin(async move {
            let call = "read leases back";
            let args = Args::default().numbers(jobs);
            let rows = self.run(call, |scripts| &scripts.inspect, args).await?;
            self.read(call, job_rows(rows))
        })
    }

    fn release<'a>(&'a mut self, keys: &'a [LeaseKey]) -> StoreFuture<'a, Vec<i64>> {
        Box::pin(async move {
            let call = "release";
            let args = Args::default().flag(false).keys(keys);
            let released = self.run(call, |scripts| &scripts.release, args).await?;
            self.read(call, answer::numbers(released))
        })
    }

    fn tell<'a>(&'a mut self, keys: &'a [LeaseKey]) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let ids: Vec<i64> = keys.iter().map(|key| key.job).collect();
            let args = Args::default().numbers(&ids);
            let told = self
                .run("tell who waits", |scripts| &scripts.tell, args)
                .await;
            if let Err(error) = told {
                tracing::debug!("those who wait for names are not told: {error}");
            }
            Ok(())
        })
    }

    fn reset(&mut self) {
        self.open = None;
    }
}
