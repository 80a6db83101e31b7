//! Which of the rows that a claim took get their resource: the rule, for every SQL store.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::lease::{LeaseKey, OwnerToken};
use crate::store::{Acquire, Claim, ClaimRequest, Resource};

/// A row that a claim took, before it is known whether it gets its resource.
pub(in crate::store) struct Taken {
    pub(in crate::store) claim: Claim,
    pub(in crate::store) resource: Option<String>,
    /// Its place among the rows of one resource.
    pub(in crate::store) rank: i64,
}

/// The rows of one claim.
pub(in crate::store) struct Takings<'a> {
    request: &'a ClaimRequest,
    taken: Vec<Taken>,
    granted: HashMap<String, LeaseKey>,
}

impl<'a> Takings<'a> {
    /// Takeovers come first, as they were: their jobs have waited already.
    pub(in crate::store) fn of(request: &'a ClaimRequest, mut taken: Vec<Taken>) -> Self {
        taken.sort_by_key(|taken| (!taken.claim.takeover, taken.rank, taken.claim.key.job));
        Self {
            request,
            taken,
            granted: HashMap::new(),
        }
    }

    /// The leases to acquire, each of another name, for the first row of each.
    pub(in crate::store) fn wanted(&self) -> Vec<Acquire> {
        let mut names = HashSet::new();
        let mut wanted = Vec::new();
        for taken in &self.taken {
            if let Some(name) = &taken.resource
                && names.insert(name)
            {
                wanted.push(Acquire {
                    name: name.clone(),
                    owner: self.request.token.clone(),
                    worker: self.request.worker.clone(),
                    ttl: self.ttl_of(&taken.claim),
                    ticket: None,
                });
            }
        }
        wanted
    }

    /// Of the rows that were taken over, the resource and who has lost the run: the two leases of a run end together.
    pub(in crate::store) fn inherited(
        &self,
        owners: &HashMap<i64, OwnerToken>,
    ) -> Vec<(Acquire, OwnerToken)> {
        let before = |wanted: Acquire| {
            let is_first = |taken: &&Taken| taken.resource.as_deref() == Some(&*wanted.name);
            let first = self.taken.iter().find(is_first)?;
            let owner = owners.get(&first.claim.key.job)?.clone();
            first.claim.takeover.then_some((wanted, owner))
        };
        self.wanted().into_iter().filter_map(before).collect()
    }

    pub(in crate::store) fn grant(&mut self, name: String, key: LeaseKey) {
        self.granted.insert(name, key);
    }

    /// The claims that have what they need; and the ids and resources of those that do not.
    pub(in crate::store) fn settle(mut self) -> (Vec<Claim>, Vec<i64>, Vec<String>) {
        let mut claims = Vec::with_capacity(self.taken.len());
        let (mut losers, mut busy) = (Vec::new(), HashSet::new());
        for mut taken in self.taken {
            match taken.resource {
                None => claims.push(taken.claim),
                Some(name) => match self.granted.remove(&name) {
                    Some(key) => {
                        taken.claim.resource = Some(Resource { name, key });
                        claims.push(taken.claim);
                    }
                    None => {
                        losers.push(taken.claim.key.job);
                        busy.insert(name);
                    }
                },
            }
        }
        (claims, losers, busy.into_iter().collect())
    }

    fn ttl_of(&self, claim: &Claim) -> Duration {
        let mut tasks = self.request.tasks.iter();
        let wanted = tasks.find(|wanted| wanted.task == claim.task);
        wanted.map(|wanted| wanted.ttl).unwrap_or_default()
    }
}
