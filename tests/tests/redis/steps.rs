//! The steps that the tests here are made of.

use std::sync::Arc;
use std::time::Duration;

use tasklock_runtime::store::{
    Acquire, Acquired, Claim, ClaimRequest, Declaration, Due, Finish, NewJob, Options, Passed,
    Renewal, Source, Store, Then, Wanted, connect,
};
use tasklock_runtime::{Error, LeaseKey, Next, OwnerToken};

/// A lease that does not expire within a test.
pub(crate) const LONG: Duration = Duration::from_secs(60);
/// The most that anything may take before a test fails.
pub(crate) const BOUND: Duration = Duration::from_secs(60);

/// Opens a store whose keys may be missing.
pub(crate) async fn open(url: &str, prefix: Option<&str>) -> Result<Arc<dyn Store>, Error> {
    let source = Source::Url {
        option: "the test",
        url: url.to_owned(),
    };
    let options = Options {
        table_prefix: prefix.map(str::to_owned),
        ..Options::default()
    };
    connect(source, &options).await
}

pub(crate) async fn store(url: &str) -> Arc<dyn Store> {
    let store = open(url, None).await.expect("the server is there");
    store.migrate().await.expect("it can be written to");
    store
}

pub(crate) fn standing(task: &str) -> Declaration {
    Declaration::new(task, "every 1m", Next::at(1))
}

pub(crate) fn job(task: &str) -> NewJob {
    NewJob {
        task: task.to_owned(),
        payload: None,
        due: Due::At(1),
        priority: 0,
        unique_key: None,
        resource: None,
    }
}

pub(crate) async fn claim(store: &dyn Store, task: &str, limit: usize) -> Vec<Claim> {
    let request = ClaimRequest {
        token: OwnerToken::fresh(),
        worker: "a worker".to_owned(),
        tasks: vec![Wanted::new(task, LONG)],
        limit,
        suspects: limit,
        sweep: true,
        quick: false,
        tell: None,
    };
    store.claim(&request).await.expect("it answers").claims
}

pub(crate) fn done(key: &LeaseKey) -> Finish {
    Finish {
        key: key.clone(),
        then: Then::Done(Some(LONG)),
        outcome: "succeeded",
        error: None,
        hold: None,
        frees_place: false,
        resource: None,
        passed: Passed::default(),
    }
}

pub(crate) async fn acquire(store: &dyn Store, name: &str) -> Option<LeaseKey> {
    let wanted = Acquire {
        name: name.to_owned(),
        owner: OwnerToken::fresh(),
        worker: "a worker".to_owned(),
        ttl: LONG,
        ticket: None,
    };
    let mut acquired = store.acquire(&[wanted]).await.expect("it answers");
    match acquired.remove(0) {
        Acquired::Granted(key) => Some(key),
        Acquired::Held(_) => None,
    }
}

pub(crate) fn renewal(key: &LeaseKey) -> Renewal {
    Renewal {
        key: key.clone(),
        ttl: LONG,
        progress: None,
    }
}
