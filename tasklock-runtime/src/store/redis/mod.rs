//! Leases in Redis, or in a server that speaks its language.
//!
//! Redis runs one script at a time, and nothing comes in between: each verb is one script, and what one of them finds it may rely
//! on until it has written. So one row serves, as on the memory store, and nothing is locked, retried or waited for. What the
//! scripts do is what `store/memory` does; read that first.
//!
//! # The keys
//!
//! All of them begin with `{prefix}`, a hash tag, so that all are in one slot of a cluster, and no two prefixes meet.
//!
//! | key | what | who writes it |
//! | --- | --- | --- |
//! | `store` | hash: version, oldest compatible one, id | `migrate`; `missing`, where it has gone |
//! | `last` | hash: the last id, the last fence of a name, the last place in a line, the last write | whoever writes |
//! | `job:ID` | hash: a row, of a job or a name | every verb; the rest of this table is made of it, by `index` alone |
//! | `due:PRIORITY:TASK`, `lanes:TASK` | what waits, by due time; the priorities in which something may | |
//! | `running:TASK`, `token:OWNER` | what runs, by expiry; what one claim holds | |
//! | `keys:TASK` | hash: who has which unique key. That of a standing job is empty, that of a name is the name | |
//! | `hold:TASK` | what keeps its place after its run, by until when | |
//! | `parked:N:RESOURCE TASK`, `wants:…` | what waits for a resource, by rank; what is due and needs it | |
//! | `parked-names`, `parked-in:RESOURCE`, `parked-of:TASK` | the ways to find these | |
//! | `all`, `ended`, `prune` | jobs by id; those that have ended; what is to be deleted, by when | |
//! | `line:NAME`, `patience:NAME` | who waits for a name, by place and by until when | `acquire`, `leave` |
//! | `paused`, `aliases` | what is paused; former names | `pause`; starts |
//!
//! A script computes most of these names from the rows that it reads, so it declares the tag alone (`KEYS[1]`). Redis allows
//! that in one slot.
//!
//! # What is left behind
//!
//! - A worker that dies between two calls leaves what the last script has written, whole. A script that the server has begun ends,
//!   whoever asked for it.
//! - A reply that is lost leaves the script carried out, or not: the call is `Unavailable`, and nothing that may not happen twice is
//!   tried again. What a claim took is given back by its token, or expires.
//! - A script that fails half-way would leave half of its writes: Redis takes nothing back. It fails where a command does, and so
//!   the first write of each is one that a server refuses which is out of memory, read-only, or short of replicas (`begin`). Rows
//!   and sets that somebody else has edited may still disagree: a member whose row is gone, or is in another state, is dropped
//!   where it is met.
//! - Of the verbs that take several scripts, **enqueue** writes a call of more than a thousand jobs in parts, each of them whole:
//!   one script for all of them would hold up everybody's heartbeats. **declare** reads, and writes if nothing has changed since.
//!   **tend** and **prune** go on where they were.
//!
//! # Fences and ids never go back
//!
//! The next fence is `max(the last one + 1, the server's clock in µs)`, of jobs and of names, and so is the next id. A server that
//! has lost its data, or a replica that has missed the last writes, gives out greater ones than ever before, if its clock is not
//! behind the one that gave out the last: **the clocks of a primary and its replicas must agree within the time that a failover
//! takes, and the clock of a server must not be set back over a restart.** Fences stay below 2^53, where Lua counts exactly, until the year 2255.
//!
//! # A server that has lost its data
//!
//! After a restart without persistence every row is gone. A renewal answers without the id, the row that is then read is not there:
//! the lease is lost, the holder is told, its end is not written and answers so. Standing jobs come back by **tend**, which every worker
//! calls when it finds that nothing will ever happen, and fall due a ttl later, when runs of before have lost their leases. Jobs that were
//! enqueued do not come back. A name is free at once: nobody can know who had it, and until when, so its holder works beside the next one
//! until its next heartbeat. No verb asks for the
//! `store` key: running workers go on, and **tend** writes it again with a new id, for nothing but a start asks what it says. A start
//! without `migrate` is refused as long as it is missing.
//!
//! A **failover to a replica** that has missed the last writes is worse: the rows are there, as they were. A lease that was taken
//! or renewed in the time that was lost is nobody's, or its former owner's, and is taken by another worker while the holder goes
//! on to its next heartbeat. So nothing that rests on Redis alone excludes two runs in a failover, whatever `WAIT` has said. The fence of the second run is
//! still greater, and so writes to a SQL database that are registered in its fence table (`fence_table`) are safe: the earlier
//! holder's are refused there once the later one has written.
//!
//! Keys that a server evicts are lost in the same way, one by one: `maxmemory-policy` must be `noeviction` or one of the
//! `volatile` ones.
//!
//! # Connections of one process
//!
//! One for the store's calls, one for the heartbeat, one for each watcher. A watcher has heard an announcement of its own
//! before it is relied on, and asks a silent server whether it is there.

mod answer;
mod args;
mod declare;
mod error;
mod jobs;
mod link;
mod listen;
mod open;
mod renewer;
mod rows;
mod schema;
mod scripts;
mod verbs;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use redis::{ConnectionInfo, RedisResult, Value};

use super::forward::forwarded_verbs;
use super::listening::{self, Heard};
use super::{
    Acquire, Acquired, Cancelled, ClaimBatch, ClaimRequest, Declaration, Enqueued, Finish, Job,
    JobQuery, JobRow, NewJob, News, Pausable, Renewer, Retried, Steer, Store, StoreFuture,
    Triggered, Wake,
};
use crate::lease::{Anchor, LeaseKey, OwnerToken};
use args::Args;
use error::retried;
use link::Link;
pub(super) use open::open;
use renewer::RedisRenewer;
use schema::{OLDEST_COMPATIBLE, VERSION};
use scripts::{Script, Scripts};

struct RedisStore {
    name: String,
    info: ConnectionInfo,
    /// The hash tag, of which all keys are made.
    base: Arc<str>,
    link: Arc<Link>,
    scripts: Arc<Scripts>,
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedisStore({})", self.name)
    }
}

impl RedisStore {
    async fn run(&self, script: &Script, args: Args) -> RedisResult<Value> {
        self.link.run(script, args).await
    }

    /// Redis has no transactions that an application's database could be part of: those of any are refused.
    fn insertion_anchor(&self) -> Arc<Anchor> {
        Arc::new(())
    }

    fn lease_anchor(&self, _: Finish, _: Duration) -> Arc<Anchor> {
        Arc::new(())
    }

    fn own_renewer(&self) -> Box<dyn Renewer> {
        let (info, base) = (self.info.clone(), Arc::clone(&self.base));
        Box::new(RedisRenewer {
            name: self.name.clone(),
            link: Box::new(move || Link::new(info.clone(), Arc::clone(&base))),
            open: None,
            scripts: Arc::clone(&self.scripts),
        })
    }

    fn watcher(
        &self,
        wake: Box<dyn Fn(Wake) + Send + Sync>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.listener("work", move |heard| {
            heard.wake().into_iter().for_each(&wake)
        })
    }

    fn lease_watcher(
        &self,
        hear: Box<dyn Fn(News) + Send + Sync>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.listener("names", move |heard| {
            heard.news().into_iter().for_each(&hear)
        })
    }

    fn listener(
        &self,
        channel: &str,
        hear: impl Fn(Heard<'_>) + Send + Sync + 'static,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let listening = listen::Channel {
            info: self.info.clone(),
            link: Arc::clone(&self.link),
            channel: format!("{}:{channel}", self.base),
        };
        Box::pin(listening::watch(listening, hear))
    }

    async fn closed(&self) {
        self.link.forget().await;
    }
}

forwarded_verbs!(RedisStore);
