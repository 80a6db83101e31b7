//! The store's trait for a store on a server or in a file: each verb is its one try, tried again.

/// Implements [`Store`](crate::store::Store) for a type with `name` and, for each verb, a method `<verb>_once`. The caller's
/// `retried!` is in scope.
macro_rules! forwarded_verbs {
    ($store:ty) => {
        impl Store for $store {
            fn name(&self) -> &str {
                &self.name
            }

            fn migrate(&self) -> StoreFuture<'_, ()> {
                Box::pin(self.migrated())
            }

            fn check_schema(&self) -> StoreFuture<'_, ()> {
                Box::pin(self.checked())
            }

            fn now(&self) -> StoreFuture<'_, i64> {
                Box::pin(async move { retried!(idempotent self, "read the clock", self.now_once()) })
            }

            fn declare<'a>(&'a self, declarations: &'a [Declaration]) -> StoreFuture<'a, bool> {
                Box::pin(async move {
                    retried!(idempotent self, "declare the tasks", self.declare_once(declarations))
                })
            }

            fn tend<'a>(
                &'a self,
                declarations: &'a [Declaration],
            ) -> StoreFuture<'a, Vec<String>> {
                Box::pin(async move {
                    retried!(idempotent self, "look after the tasks", self.tend_once(declarations))
                })
            }

            fn claim<'a>(&'a self, request: &'a ClaimRequest) -> StoreFuture<'a, ClaimBatch> {
                Box::pin(async move { retried!(self, "claim", self.claim_once(request)) })
            }

            fn acquire<'a>(&'a self, wanted: &'a [Acquire]) -> StoreFuture<'a, Vec<Acquired>> {
                Box::pin(async move {
                    // What one try has granted the next one does not ask for again.
                    let mut tried = Default::default();
                    retried!(self, "acquire leases", self.acquire_once(wanted, &mut tried))
                })
            }

            fn leave<'a>(&'a self, name: &'a str, ticket: &'a OwnerToken) -> StoreFuture<'a, ()> {
                Box::pin(async move {
                    retried!(idempotent self, "leave a line", self.leave_once(name, ticket))
                })
            }

            fn watch_leases(
                &self,
                hear: Box<dyn Fn(News) + Send + Sync>,
            ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
                self.lease_watcher(hear)
            }

            fn finish<'a>(&'a self, ends: &'a [Finish]) -> StoreFuture<'a, Vec<i64>> {
                Box::pin(async move { retried!(self, "finish", self.finish_once(ends)) })
            }

            fn release<'a>(&'a self, keys: &'a [LeaseKey]) -> StoreFuture<'a, Vec<i64>> {
                Box::pin(async move { retried!(self, "release", self.release_once(keys)) })
            }

            fn abandon<'a>(&'a self, token: &'a OwnerToken) -> StoreFuture<'a, u64> {
                Box::pin(async move {
                    retried!(idempotent self, "give back a lost claim", self.abandon_once(token))
                })
            }

            fn assign<'a>(&'a self, key: &'a LeaseKey, resource: &'a str) -> StoreFuture<'a, ()> {
                Box::pin(async move {
                    retried!(idempotent self, "name a job's resource", self.assign_once(key, resource))
                })
            }

            fn enqueue<'a>(&'a self, jobs: &'a [NewJob]) -> StoreFuture<'a, Vec<Enqueued>> {
                Box::pin(async move { retried!(self, "enqueue", self.enqueue_once(jobs)) })
            }

            fn insertion(&self) -> Arc<Anchor> {
                self.insertion_anchor()
            }

            fn prune(&self, most: usize) -> StoreFuture<'_, usize> {
                Box::pin(async move {
                    retried!(idempotent self, "delete ended jobs", self.prune_once(most))
                })
            }

            fn trigger<'a>(&'a self, task: &'a str) -> StoreFuture<'a, Option<Triggered>> {
                Box::pin(async move { retried!(idempotent self, "trigger", self.trigger_once(task)) })
            }

            fn inspect<'a>(&'a self, jobs: &'a [i64]) -> StoreFuture<'a, Vec<JobRow>> {
                Box::pin(async move { retried!(idempotent self, "read jobs", self.inspect_once(jobs)) })
            }

            fn standing<'a>(&'a self, task: &'a str) -> StoreFuture<'a, Option<JobRow>> {
                Box::pin(async move { retried!(idempotent self, "read a job", self.standing_once(task)) })
            }

            fn anchor(&self, end: Finish, ttl: Duration) -> Arc<Anchor> {
                self.lease_anchor(end, ttl)
            }

            fn renewer(&self) -> Box<dyn Renewer> {
                self.own_renewer()
            }

            fn watch(
                &self,
                wake: Box<dyn Fn(Wake) + Send + Sync>,
            ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
                self.watcher(wake)
            }

            fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
                Box::pin(self.closed())
            }
        }

        impl Steer for $store {
            fn job(&self, job: i64) -> StoreFuture<'_, Option<Job>> {
                Box::pin(async move { retried!(idempotent self, "read a job", self.job_once(job)) })
            }

            fn jobs<'a>(&'a self, query: &'a JobQuery) -> StoreFuture<'a, Vec<Job>> {
                Box::pin(async move { retried!(idempotent self, "list jobs", self.jobs_once(query)) })
            }

            fn cancel(&self, job: i64) -> StoreFuture<'_, Option<Cancelled>> {
                Box::pin(async move { retried!(self, "cancel a job", self.cancel_once(job)) })
            }

            fn retry(&self, job: i64) -> StoreFuture<'_, Option<Retried>> {
                Box::pin(async move { retried!(self, "retry a job", self.retry_once(job)) })
            }

            fn pause<'a>(&'a self, what: &'a Pausable, pause: bool) -> StoreFuture<'a, bool> {
                Box::pin(async move {
                    retried!(self, "pause or resume", self.pause_once(what, pause))
                })
            }

            fn paused(&self) -> StoreFuture<'_, Vec<Pausable>> {
                Box::pin(async move {
                    retried!(idempotent self, "read what is paused", self.paused_once())
                })
            }
        }
    };
}
pub(in crate::store) use forwarded_verbs;
