//! Jobs as applications and operators see them: each verb one try.

use redis::RedisResult;

use super::RedisStore;
use super::answer::{list, maybe_number, number, several, text, texts};
use super::args::Args;
use super::error::{Retry, store_error};
use super::rows::Fields;
use crate::error::{StoreError, StoreErrorKind};
use crate::store::pauses::again;
use crate::store::{Cancelled, Enqueued, Job, JobQuery, LEASES, NewJob, Pausable, Retried};

/// The most jobs that one script writes, and the most bytes of their payloads (one job may have more): nobody else is served
/// meanwhile.
const WRITE_MOST: usize = 1_000;
const WRITE_BYTES: usize = 4 << 20;
const ENQUEUE: &str = "enqueue";
/// How many jobs a script looks at, for one that is asked for.
const LOOK: usize = 1_000;
/// How many a script deletes.
const PRUNE_MOST: usize = 500;

impl RedisStore {
    /// In parts: each of them is written whole or not at all. Once the first one is written, the call is not tried again: the
    /// others are.
    pub(super) async fn enqueue_once(&self, jobs: &[NewJob]) -> Result<Vec<Enqueued>, StoreError> {
        let mut enqueued = Vec::with_capacity(jobs.len());
        while enqueued.len() < jobs.len() {
            let part = part(&jobs[enqueued.len()..]);
            if enqueued.is_empty() {
                let written = self.write(part).await;
                enqueued = written.map_err(|error| store_error(&self.name, ENQUEUE, &error))?;
                continue;
            }
            let retry = Retry::new(&self.name, ENQUEUE);
            let written = async { again!(retry, self.write(part)) };
            let written = written.await.map_err(|error| StoreError {
                kind: match error.kind {
                    StoreErrorKind::Busy => StoreErrorKind::Unavailable,
                    kind => kind,
                },
                message: format!(
                    "{} of {} jobs are written, for more than {WRITE_MOST} go in parts: {}",
                    enqueued.len(),
                    jobs.len(),
                    error.message
                ),
                ..error
            });
            enqueued.extend(written?);
        }
        Ok(enqueued)
    }

    async fn write(&self, jobs: &[NewJob]) -> RedisResult<Vec<Enqueued>> {
        let args = jobs.iter().fold(Args::default(), Args::job);
        let written = list(self.run(&self.scripts.enqueue, args).await?)?;
        let enqueued = |job| {
            let [id, is_new] = several(job)?;
            let id = number(&id)?;
            Ok(match number(&is_new)? {
                1 => Enqueued::New(id),
                _ => Enqueued::Existing(id),
            })
        };
        written.into_iter().map(enqueued).collect()
    }

    pub(super) async fn prune_once(&self, most: usize) -> RedisResult<usize> {
        let mut pruned = 0;
        while pruned < most {
            let most = (most - pruned).min(PRUNE_MOST);
            let args = Args::default().size(most);
            let [looked, deleted] = several(self.run(&self.scripts.prune, args).await?)?;
            pruned += usize::try_from(number(&deleted)?).unwrap_or(0);
            if usize::try_from(number(&looked)?).unwrap_or(0) < most {
                break;
            }
        }
        Ok(pruned)
    }

    pub(super) async fn job_once(&self, id: i64) -> RedisResult<Option<Job>> {
        let args = Args::default().number(id);
        let [_, rows] = several(self.run(&self.scripts.inspect, args).await?)?;
        let rows = Fields::all(rows)?;
        let found = rows.first().filter(|row| row.task() != LEASES);
        Ok(found.map(Fields::job))
    }

    pub(super) async fn jobs_once(&self, query: &JobQuery) -> RedisResult<Vec<Job>> {
        let mut jobs = Vec::new();
        let mut before = Some(query.before);
        while let Some(id) = before.filter(|_| jobs.len() < query.limit) {
            let states = query.states.iter().map(|state| state.as_str());
            let args = Args::default()
                .text(&format!("({id}"))
                .size(query.limit - jobs.len())
                .size(LOOK)
                .maybe_text(query.task.as_deref())
                .texts(states);
            let [next, rows] = several(self.run(&self.scripts.jobs, args).await?)?;
            jobs.extend(Fields::all(rows)?.iter().map(Fields::job));
            before = maybe_number(&next)?;
        }
        Ok(jobs)
    }

    pub(super) async fn cancel_once(&self, id: i64) -> RedisResult<Option<Cancelled>> {
        let args = Args::default().number(id);
        let found = text(&self.run(&self.scripts.cancel, args).await?)?;
        Ok(match &*found {
            "ready" => Some(Cancelled::Now),
            "running" => Some(Cancelled::Soon),
            "ended" => Some(Cancelled::AlreadyEnded),
            "standing" => Some(Cancelled::Standing),
            _ => None,
        })
    }

    pub(super) async fn retry_once(&self, id: i64) -> RedisResult<Option<Retried>> {
        let args = Args::default().number(id);
        let answer = list(self.run(&self.scripts.retry, args).await?)?;
        let found = answer.first().map(text).transpose()?;
        Ok(match (found.as_deref(), answer.get(1)) {
            (Some("queued"), _) => Some(Retried::Queued),
            (Some("queued already"), _) => Some(Retried::AlreadyQueued),
            (Some("running"), _) => Some(Retried::AlreadyRunning),
            (Some("taken"), Some(holder)) => Some(Retried::KeyTaken(number(holder)?)),
            _ => None,
        })
    }

    pub(super) async fn pause_once(&self, what: &Pausable, pause: bool) -> RedisResult<bool> {
        let (kind, name) = what.kind_and_name();
        let args = Args::default().text(&format!("{kind}:{name}")).flag(pause);
        Ok(number(&self.run(&self.scripts.pause, args).await?)? == 1)
    }

    pub(super) async fn paused_once(&self) -> RedisResult<Vec<Pausable>> {
        let paused = texts(self.run(&self.scripts.paused, Args::default()).await?)?;
        let what = |paused: &String| {
            let (kind, name) = paused.split_once(':')?;
            Pausable::of(kind, name.to_owned())
        };
        let mut paused: Vec<Pausable> = paused.iter().filter_map(what).collect();
        paused.sort();
        Ok(paused)
    }
}

fn part(jobs: &[NewJob]) -> &[NewJob] {
    let mut bytes = 0;
    let fits = |job: &&NewJob| {
        let first = bytes == 0;
        bytes += job.payload.as_ref().map_or(0, String::len).max(1);
        first || bytes <= WRITE_BYTES
    };
    let count = jobs.iter().take(WRITE_MOST).take_while(fits).count();
    &jobs[..count]
}
