//! The verbs that runs are made of, each one try: the store's trait adds the retries.

use redis::{RedisResult, Value};

use super::RedisStore;
use super::answer::{list, maybe_number, number, numbers, several, text};
use super::args::Args;
use super::rows::Fields;
use crate::fault;
use crate::lease::{LeaseKey, OwnerToken};
use crate::store::{
    Acquire, Acquired, Claim, ClaimBatch, ClaimRequest, Finish, JobRow, Resource, Triggered, span,
};

impl RedisStore {
    pub(super) async fn now_once(&self) -> RedisResult<i64> {
        number(&self.run(&self.scripts.now, Args::default()).await?)
    }

    pub(super) async fn claim_once(&self, request: &ClaimRequest) -> RedisResult<ClaimBatch> {
        fault::at("claim begun");
        let args = Args::claim(request);
        let answer = self.run(&self.scripts.claim, args).await?;
        fault::at("claim to be committed");
        let [now, wait, parked, claims] = several(answer)?;
        let now = number(&now)?;
        let claim = |row| claim(row, request, now);
        Ok(ClaimBatch {
            now,
            claims: list(claims)?
                .into_iter()
                .map(claim)
                .collect::<RedisResult<_>>()?,
            wait: maybe_number(&wait)?.map(span),
            parked: number(&parked)? == 1,
        })
    }

    pub(super) async fn acquire_once(
        &self,
        wanted: &[Acquire],
        // All or nothing.
        (): &mut (),
    ) -> RedisResult<Vec<Acquired>> {
        fault::at("claim begun");
        let args = wanted.iter().fold(Args::default(), Args::acquire);
        let answer = self.run(&self.scripts.acquire, args).await?;
        fault::at("claim to be committed");
        let acquired = |(wanted, answer): (&Acquire, Value)| {
            let [job, what] = several(answer)?;
            let what = number(&what)?;
            let owner = wanted.owner.clone();
            Ok(match maybe_number(&job)? {
                Some(job) => Acquired::Granted(LeaseKey {
                    job,
                    fence: what,
                    owner,
                }),
                None => Acquired::Held(span(what)),
            })
        };
        wanted.iter().zip(list(answer)?).map(acquired).collect()
    }

    pub(super) async fn leave_once(&self, name: &str, ticket: &OwnerToken) -> RedisResult<()> {
        let args = Args::default().texts([name, ticket.as_str()]);
        self.run(&self.scripts.leave, args).await.map(drop)
    }

    pub(super) async fn finish_once(&self, ends: &[Finish]) -> RedisResult<Vec<i64>> {
        // A name is given back like a job that ends, in the same step.
        let names = ends.iter().filter_map(|end| end.resource.clone());
        let names: Vec<Finish> = names.map(Finish::of_name).collect();
        let frees_place = ends.iter().any(|end| end.frees_place);
        let args = Args::default().flag(frees_place);
        let args = ends.iter().chain(&names).fold(args, Args::end);
        fault::at("end to be committed");
        let finished = numbers(self.run(&self.scripts.finish, args).await?)?;
        fault::at("end committed");
        Ok(finished)
    }

    pub(super) async fn release_once(&self, keys: &[LeaseKey]) -> RedisResult<Vec<i64>> {
        let args = Args::default().flag(true).keys(keys);
        numbers(self.run(&self.scripts.release, args).await?)
    }

    pub(super) async fn abandon_once(&self, token: &OwnerToken) -> RedisResult<u64> {
        let args = Args::default().text(token.as_str());
        let abandoned = number(&self.run(&self.scripts.abandon, args).await?)?;
        Ok(abandoned.unsigned_abs())
    }

    pub(super) async fn assign_once(&self, key: &LeaseKey, resource: &str) -> RedisResult<()> {
        let args = Args::default().key(key).text(resource);
        self.run(&self.scripts.assign, args).await.map(drop)
    }

    pub(super) async fn trigger_once(&self, task: &str) -> RedisResult<Option<Triggered>> {
        let args = Args::default().text(task);
        let found = text(&self.run(&self.scripts.trigger, args).await?)?;
        Ok(match &*found {
            "queued" => Some(Triggered::Queued),
            "queued already" => Some(Triggered::AlreadyQueued),
            "running" => Some(Triggered::AlreadyRunning),
            _ => None,
        })
    }

    pub(super) async fn inspect_once(&self, jobs: &[i64]) -> RedisResult<Vec<JobRow>> {
        let args = Args::default().numbers(jobs);
        job_rows(self.run(&self.scripts.inspect, args).await?)
    }

    pub(super) async fn standing_once(&self, task: &str) -> RedisResult<Option<JobRow>> {
        let args = Args::default().text(task);
        let rows = job_rows(self.run(&self.scripts.standing, args).await?)?;
        Ok(rows.into_iter().next())
    }
}

fn claim(row: Value, request: &ClaimRequest, now: i64) -> RedisResult<Claim> {
    let [id, takeover, lease, fence, fields] = several(row)?;
    let fields = Fields::of(number(&id)?, fields)?;
    let mut claim = fields.claim(&request.token, number(&takeover)? == 1, now);
    let lease = maybe_number(&lease)?.zip(maybe_number(&fence)?);
    claim.resource = fields.resource().zip(lease).map(|(name, (job, fence))| {
        let owner = request.token.clone();
        let key = LeaseKey { job, fence, owner };
        Resource { name, key }
    });
    Ok(claim)
}

/// Rows as the scripts answer them, with the clock.
pub(super) fn job_rows(answer: Value) -> RedisResult<Vec<JobRow>> {
    let [now, rows] = several(answer)?;
    let now = number(&now)?;
    let rows = Fields::all(rows)?;
    Ok(rows.iter().map(|row| row.job_row(now)).collect())
}
