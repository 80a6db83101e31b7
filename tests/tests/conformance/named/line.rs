//! The line for a name.

use std::time::Duration;

use tasklock_runtime::OwnerToken;
use tasklock_runtime::store::{Acquired, Declaration, News, PATIENCE, Store};
use tasklock_test_support::wait::eventually_async;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::{acquire, granted, left, wanted};
use crate::steps::{BOUND, LONG, SHORT, claim, expired, task};
use crate::world::{Sql, WAITING, World};

/// A try of one who waits.
async fn wait(store: &dyn Store, name: &str, ticket: &OwnerToken) -> Acquired {
    let wanted = tasklock_runtime::store::Acquire {
        ticket: Some(ticket.clone()),
        ..wanted(name, LONG)
    };
    let mut acquired = store.acquire(&[wanted]).await.unwrap();
    acquired.remove(0)
}

pub(crate) async fn those_who_wait_get_it_in_their_order(world: &World) {
    let stores = world.stores(3).await;
    let mut held = granted(acquire(&*stores[0], "a", LONG).await);
    let tickets: Vec<_> = (0..6).map(|_| OwnerToken::fresh()).collect();
    for (nth, ticket) in tickets.iter().enumerate() {
        assert!(left(wait(&*stores[nth % 3], "a", ticket).await) > PATIENCE);
    }
    for (nth, ticket) in tickets.iter().enumerate() {
        let store = &stores[nth % 3];
        // Released by anybody; asked for by all, the last ones first.
        assert_eq!(
            store.release(std::slice::from_ref(&held)).await.unwrap(),
            [held.job]
        );
        for later in tickets[nth + 1..].iter().rev() {
            assert!(left(wait(&**store, "a", later).await) <= PATIENCE);
        }
        let next = granted(wait(&**store, "a", ticket).await);
        assert!(next.fence > held.fence);
        held = next;
    }
    // The line is empty: its places went with the grants.
    stores[0].release(&[held]).await.unwrap();
    granted(acquire(&*stores[0], "a", LONG).await);
}

pub(crate) async fn nobody_gets_what_others_wait_for(world: &World) {
    let store = world.store().await;
    let held = granted(acquire(&*store, "a", LONG).await);
    let ticket = OwnerToken::fresh();
    left(wait(&*store, "a", &ticket).await);
    store.release(&[held]).await.unwrap();
    let kept = left(acquire(&*store, "a", LONG).await);
    assert!(kept <= PATIENCE && !kept.is_zero(), "{kept:?}");
    granted(acquire(&*store, "b", LONG).await);
    granted(wait(&*store, "a", &ticket).await);
}

pub(crate) async fn who_has_died_holds_up_nobody_for_long(world: &World) {
    let store = world.store().await;
    let held = granted(acquire(&*store, "a", LONG).await);
    left(wait(&*store, "a", &OwnerToken::fresh()).await);
    let ticket = OwnerToken::fresh();
    left(wait(&*store, "a", &ticket).await);
    store.release(&[held]).await.unwrap();
    let start = store.now().await.unwrap();
    let look = async || match wait(&*store, "a", &ticket).await {
        Acquired::Granted(key) => Some(key),
        Acquired::Held(_) => None,
    };
    eventually_async(BOUND, look).await;
    let waited = store.now().await.unwrap() - start;
    assert!(waited < i64::try_from((3 * PATIENCE).as_micros()).unwrap());
}

pub(crate) async fn who_leaves_the_line_makes_room(world: &World) {
    let store = world.store().await;
    let held = granted(acquire(&*store, "a", LONG).await);
    let (first, second) = (OwnerToken::fresh(), OwnerToken::fresh());
    left(wait(&*store, "a", &first).await);
    left(wait(&*store, "a", &second).await);
    store.release(&[held]).await.unwrap();
    store.leave("a", &first).await.unwrap();
    granted(wait(&*store, "a", &second).await);
    store.leave("a", &first).await.unwrap();
}

pub(crate) async fn an_expired_one_is_for_the_first(world: &World) {
    let store = world.store().await;
    let held = granted(acquire(&*store, "a", SHORT).await);
    let ticket = OwnerToken::fresh();
    if let Acquired::Granted(key) = wait(&*store, "a", &ticket).await {
        // It has expired in the time between.
        assert!(key.fence > held.fence);
        return;
    }
    expired(&*store, held.job).await;
    left(acquire(&*store, "a", LONG).await);
    let next = granted(wait(&*store, "a", &ticket).await);
    assert!(next.fence > held.fence);
    store.release(&[next]).await.unwrap();
    granted(acquire(&*store, "a", LONG).await);
}

/// Where news have a name, they are of the first in the line; and where nobody waits, nobody is told.
pub(crate) async fn the_first_in_the_line_is_told(world: &World) {
    if !world.announces() {
        return;
    }
    let (store, other) = (world.store().await, world.store().await);
    let (sender, mut heard) = mpsc::unbounded_channel();
    let watching = tokio::spawn(other.watch_leases(Box::new(move |news| {
        let _ = sender.send(news);
    })));
    let mut next = async || timeout(BOUND, heard.recv()).await.expect("news").unwrap();
    assert_eq!(next().await, News::Live);
    let held = granted(acquire(&*store, "a", LONG).await);
    let (first, second) = (OwnerToken::fresh(), OwnerToken::fresh());
    left(wait(&*store, "a", &first).await);
    left(wait(&*store, "a", &second).await);
    store.release(&[held]).await.unwrap();
    let expected = [News::Any, News::Turn(first.as_str().to_owned())];
    assert!(expected.contains(&next().await));
    let held = granted(wait(&*store, "a", &first).await);
    let of_nobody = granted(acquire(&*store, "name: b", LONG).await);
    store.release(&[of_nobody]).await.unwrap();
    left(wait(&*store, "a", &second).await);
    store.release(&[held]).await.unwrap();
    let expected = [News::Any, News::Turn(second.as_str().to_owned())];
    assert!(expected.contains(&next().await));
    watching.abort();
}

pub(crate) async fn jobs_come_after_those_who_wait(world: &World) {
    let store = world.store().await;
    let held = granted(acquire(&*store, "a", LONG).await);
    let declared = Declaration {
        resource: Some("a".to_owned()),
        ..task("task", Some(1))
    };
    store.declare(&[declared]).await.unwrap();
    assert!(claim(&*store, &["task"], LONG, 1).await.claims.is_empty());
    let ticket = OwnerToken::fresh();
    left(wait(&*store, "a", &ticket).await);
    store.release(&[held]).await.unwrap();
    let batch = claim(&*store, &["task"], LONG, 1).await;
    assert!(batch.claims.is_empty());
    assert!(batch.wait.unwrap() <= Duration::from_secs(1));
    let held = granted(wait(&*store, "a", &ticket).await);
    store.release(&[held]).await.unwrap();
    assert_eq!(claim(&*store, &["task"], LONG, 1).await.claims.len(), 1);
}

/// The name is given back while a place in its line is being written, which who gives it back cannot see: whoever takes
/// the place finds the name free.
pub(crate) async fn who_takes_a_place_looks_at_the_name_again(world: &World) {
    let store = world.store().await;
    let Some(mut sql) = (world.sql().await).filter(|_| world.locks_rows()) else {
        return;
    };
    let Some(mut beside) = world.sql().await else {
        return;
    };
    let held = granted(acquire(&*store, "a", LONG).await);
    let ticket = OwnerToken::fresh();
    // Who writes the same ticket has to wait for this.
    sql.execute("BEGIN").await;
    sql.execute(&format!(
        "INSERT INTO tasklock_waiter (name, ticket, alive_until) VALUES ('b', '{}', now())",
        ticket.as_str()
    ))
    .await;
    let (waiting, its) = (world.store().await, ticket.clone());
    let waits = tokio::spawn(async move { wait(&*waiting, "a", &its).await });
    let blocked = match beside {
        Sql::MySql(_) => WAITING,
        _ => {
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'
             AND query LIKE '%WITH a AS MATERIALIZED%' AND datname = current_database()"
        }
    };
    let look = async || (beside.number(blocked).await > 0).then_some(());
    eventually_async(BOUND, look).await;
    store.release(&[held]).await.unwrap();
    sql.execute("ROLLBACK").await;
    granted(waits.await.unwrap());
}
