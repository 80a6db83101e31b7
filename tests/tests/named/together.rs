//! Many callers at once, counted by the server.

use std::sync::Arc;
use std::time::Duration;

use tasklock_runtime::Client;
use tasklock_test_support::stats::Statements;
use tasklock_tests::stage::Place;
use tokio::sync::Barrier;

use crate::{BOUND, client, connected, free_again};

const CALLERS: usize = 16;
const CYCLES: usize = 20;
/// Longer than it takes: nothing is renewed.
const LASTS: Duration = Duration::from_secs(60);

async fn cycles(client: &Client, name: &str) -> i64 {
    let mut last = 0;
    for _ in 0..CYCLES {
        let acquired = client.lease(name).ttl(LASTS).acquire_within(BOUND).await;
        let guard = acquired.expect("the store answers").expect("it is free");
        assert!(guard.fence() > last && guard.check().is_ok());
        last = guard.fence();
        guard.release().await;
    }
    last
}

/// Each has a name of its own, and all of them share the calls: far fewer than one for each that is acquired, and for
/// each that is given back.
pub(crate) async fn callers_share_their_calls(place: Place) {
    let client = client(&place).await;
    let names: Vec<String> = (0..CALLERS)
        .map(|caller| format!("name {caller}"))
        .collect();
    for name in &names {
        client
            .lease(name)
            .try_acquire()
            .await
            .expect("it is there")
            .expect("it is free")
            .release()
            .await;
    }
    let mut statements = match &place {
        Place::Postgres(database) => Some(Statements::from_now(database).await),
        Place::Sqlite(_) => None,
    };
    let start = Arc::new(Barrier::new(CALLERS));
    let callers = names.iter().cloned().map(|name| {
        let (client, start) = (client.clone(), Arc::clone(&start));
        tokio::spawn(async move {
            start.wait().await;
            cycles(&client, &name).await
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await.expect("none panics");
    }
    let Some(statements) = &mut statements else {
        return;
    };
    let all = i64::try_from(CALLERS * CYCLES).expect("they are few");
    let acquired = statements.calls("as (durable|lasting)").await;
    let released = statements.calls("as told").await;
    let total = statements.total().await;
    println!(
        "named: {all} leases of {CALLERS} callers: {acquired} calls acquired them, {released} gave them back, \
         {total} statements in all"
    );
    let list = statements.list().await;
    assert!(3 * acquired <= all, "{acquired}: {list:#?}");
    assert!(3 * released <= all, "{released}: {list:#?}");
    // A call to acquire, one to give back, and a look for those who wait.
    assert!(total <= all, "{total}: {list:#?}");
}

/// Alone, in as few calls as there can be: one for each, and a look for those who wait.
pub(crate) async fn a_lone_caller_asks_once(place: Place) {
    let Place::Postgres(database) = &place else {
        return;
    };
    let client = client(&place).await;
    cycles(&client, "name").await;
    let mut statements = Statements::from_now(database).await;
    for _ in 0..CYCLES {
        let acquired = client.lease("name").ttl(LASTS).try_acquire().await;
        acquired
            .expect("the store answers")
            .expect("it is free")
            .release()
            .await;
    }
    let cycles = i64::try_from(CYCLES).expect("they are few");
    assert_eq!(statements.calls("as lasting").await, cycles);
    assert_eq!(statements.calls("as told").await, cycles);
    let list = statements.list().await;
    assert!(statements.total().await <= 3 * cycles, "{list:#?}");
}

/// Where one caller is dropped, at any of its await points, those who were sent with it have their names.
pub(crate) async fn a_dropped_caller_takes_nobody_with_it(place: Place) {
    let (client, other) = (client(&place).await, connected(&place).await);
    for round in 0..CYCLES {
        let callers = (0..CALLERS).map(|caller| {
            let (client, name) = (client.clone(), format!("name {caller}"));
            tokio::spawn(async move { client.lease(name).ttl(LASTS).acquire_within(BOUND).await })
        });
        let mut callers: Vec<_> = callers.collect();
        for _ in 0..round {
            tokio::task::yield_now().await;
        }
        for caller in callers.iter().step_by(2) {
            caller.abort();
        }
        for (nth, caller) in callers.drain(..).enumerate() {
            match caller.await {
                Ok(acquired) => {
                    let guard = acquired.expect("the store answers").expect("it is free");
                    assert_eq!(
                        (guard.task(), guard.check()),
                        (&*format!("name {nth}"), Ok(()))
                    );
                }
                Err(_) => assert_eq!(nth % 2, 0),
            }
        }
        for caller in 0..CALLERS {
            free_again(&other, &format!("name {caller}")).await;
        }
    }
    free_again(&client, "name 0").await;
}

/// Two callers of one process ask for one name, and others for theirs: one of the two has it.
pub(crate) async fn a_name_is_asked_for_by_one_at_a_time(place: Place) {
    let client = client(&place).await;
    for round in 0..CYCLES {
        let callers = (0..CALLERS).map(|caller| {
            let (client, name) = (client.clone(), format!("{round} {}", caller / 2));
            tokio::spawn(async move { client.lease(name).ttl(LASTS).try_acquire().await })
        });
        let mut held = Vec::new();
        for caller in callers.collect::<Vec<_>>() {
            let acquired = caller.await.expect("it does not panic");
            held.extend(acquired.expect("the store answers"));
        }
        let mut names: Vec<_> = held.iter().map(|guard| guard.task().to_owned()).collect();
        names.sort();
        names.dedup();
        assert_eq!((names.len(), held.len()), (CALLERS / 2, CALLERS / 2));
    }
}
