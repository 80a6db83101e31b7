//! The line for a name, among processes.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use tasklock_runtime::store::PATIENCE;
use tasklock_runtime::{Client, LeaseGuard};
use tasklock_test_support::stats::Statements;
use tasklock_test_support::wait::eventually_async;
use tasklock_tests::stage::{Database, Place};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::{BOUND, SHORT, client, connected, held, is_free};

/// Longer than any of these takes: nothing is renewed meanwhile.
const LASTS: Duration = Duration::from_secs(60);
const CLIENTS: usize = 4;
const OF_EACH: usize = 4;

async fn in_line(database: &mut Database) -> usize {
    let rows = database.run("SELECT count(*) FROM tasklock_waiter").await;
    let rows = rows.expect("the table is there");
    let count = rows[0][0].as_deref().and_then(|count| count.parse().ok());
    count.expect("a count is a number")
}

async fn until_in_line(database: &mut Database, expected: usize) {
    let start = Instant::now();
    while in_line(database).await != expected {
        assert!(start.elapsed() < BOUND, "{expected} in the line");
        tokio::task::yield_now().await;
    }
}

type Acquiring = Pin<Box<dyn Future<Output = LeaseGuard> + Send>>;

fn acquiring(client: &Client) -> Acquiring {
    let acquiring = client.lease("name").ttl(LASTS).acquire_within(BOUND);
    Box::pin(async {
        let acquired = acquiring.await.expect("the store answers");
        acquired.expect("within the bound")
    })
}

/// So that it stands in its process's queue before the next one does.
async fn polled_once(mut acquiring: Acquiring) -> Acquiring {
    poll_fn(|cx| {
        assert!(acquiring.as_mut().poll(cx).is_pending());
        Poll::Ready(())
    })
    .await;
    acquiring
}

/// Four processes with four who wait each: they have it by turns, and in each process in the order in which they came. Each
/// asks the store twice: to take its place, and when it is told that its turn has come.
pub(crate) async fn sixteen_get_it_by_turns_and_ask_twice(place: Place) {
    let first = client(&place).await;
    let mut database = place.connect().await;
    let holder = held(&first, "name").await;
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(connected(&place).await);
    }
    let mut statements = match &place {
        Place::Postgres(database) => Some(Statements::from_now(database).await),
        Place::Sqlite(_) => None,
    };
    let start = Instant::now();
    let (sender, mut granted) = mpsc::unbounded_channel();
    let mut waiting = Vec::new();
    for nth in 0..CLIENTS * OF_EACH {
        let who = (nth % CLIENTS, nth / CLIENTS);
        let acquiring = polled_once(acquiring(&clients[who.0])).await;
        let sender = sender.clone();
        waiting.push(tokio::spawn(async move {
            let guard = acquiring.await;
            sender.send((who, guard)).expect("the test listens");
        }));
        // The first of each process have places in the line.
        until_in_line(&mut database, (nth + 1).min(CLIENTS)).await;
    }
    drop(holder);
    let mut order = Vec::new();
    let mut fence = 0;
    for nth in 0..CLIENTS * OF_EACH {
        let (who, guard) = granted.recv().await.expect("all of them come");
        assert!(guard.fence() > fence && guard.check().is_ok());
        fence = guard.fence();
        order.push(who);
        // Its process's next one has taken its place.
        until_in_line(&mut database, CLIENTS.min(CLIENTS * OF_EACH - 1 - nth)).await;
        guard.release().await;
    }
    let turns = (0..CLIENTS * OF_EACH).map(|nth| (nth % CLIENTS, nth / CLIENTS));
    assert_eq!(order, turns.collect::<Vec<_>>());
    for waiter in waiting {
        waiter.await.expect("none panics");
    }
    let Some(statements) = &mut statements else {
        return;
    };
    // Once a second each process renews its place; and one that has just begun to listen looks once more.
    let seconds = i64::try_from(start.elapsed().as_secs()).expect("it has not been so long") + 1;
    let asked = statements.calls("as durable").await;
    let waiters = i64::try_from(CLIENTS * OF_EACH).expect("they are few");
    let processes = i64::try_from(CLIENTS).expect("they are few");
    let all = statements.total().await;
    println!(
        "named: {waiters} waiters of {processes} processes asked {asked} times in {seconds} s, \
         {all} statements with those of the tests and the releases"
    );
    assert!(
        asked <= 2 * waiters + processes + processes * seconds,
        "{asked} in {seconds} s: {:#?}",
        statements.list().await
    );
}

pub(crate) async fn who_stops_waiting_makes_room_at_once(place: Place) {
    let (one, other) = (client(&place).await, connected(&place).await);
    let mut database = place.connect().await;
    let holder = held(&one, "name").await;
    let acquiring = polled_once(acquiring(&one)).await;
    let gives_up = tokio::spawn(acquiring);
    until_in_line(&mut database, 1).await;
    let second = connected(&place).await;
    let next = tokio::spawn(polled_once(self::acquiring(&second)).await);
    until_in_line(&mut database, 2).await;
    gives_up.abort();
    assert!(gives_up.await.is_err());
    until_in_line(&mut database, 1).await;
    holder.release().await;
    let start = Instant::now();
    let guard = next.await.expect("it does not panic");
    assert!(start.elapsed() < BOUND);
    assert!(!is_free(&other, "name").await);
    drop(guard);
}

/// A wait that is dropped at any of its await points: its place goes, or lapses; nothing is acquired for it.
pub(crate) async fn a_dropped_wait_leaves_nothing_behind(place: Place) {
    let (client, other) = (client(&place).await, connected(&place).await);
    for polls in 1..=8 {
        let name = format!("name {polls}");
        let holder = held(&other, &name).await;
        let mut acquiring = Box::pin(client.lease(&name).ttl(SHORT).acquire_within(BOUND));
        let mut left = polls;
        let mut release = Some(holder);
        poll_fn(|cx| {
            let polled = acquiring.as_mut().poll(cx);
            left -= 1;
            if left == 1 {
                // What comes next is the answer to that.
                release = None;
            }
            if polled.is_ready() || left <= 0 {
                return Poll::Ready(());
            }
            Poll::Pending
        })
        .await;
        drop(acquiring);
        drop(release);
        let dropped = Instant::now();
        eventually_async(BOUND, async || is_free(&other, &name).await.then_some(())).await;
        // At once, as a rule; by its expiry or its patience where nobody could give it back.
        let most = PATIENCE.max(SHORT) + Duration::from_secs(5);
        assert!(dropped.elapsed() < most, "{polls}: {:?}", dropped.elapsed());
    }
}
