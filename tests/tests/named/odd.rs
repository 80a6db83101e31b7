//! What people do with named leases that nobody has thought of.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use tasklock_runtime::Client;
use tasklock_tests::stage::Place;
use tokio::time::timeout;

use crate::{BOUND, SHORT, client, free_again, held};

/// Two calls of this client wait for somebody's transaction: a lease does not wait for them.
pub(crate) async fn a_bound_holds_while_other_calls_wait(place: Place) {
    if let Place::Sqlite(_) = &place {
        // Nobody waits for a row there.
        return;
    }
    let client = client(&place).await;
    let insert = "INSERT INTO tasklock_job (task, due_at) VALUES ('t', now()) RETURNING id";
    let id = place.run(insert).await[0][0].as_deref().map(str::parse);
    let id: i64 = id.expect("it has an id").expect("which is a number");
    let mut other = place.connect().await;
    for lock in [
        "BEGIN",
        "SELECT id FROM tasklock_job WHERE task = 't' FOR UPDATE",
    ] {
        other.run(lock).await.expect("nobody else has it");
    }
    let blocked: Vec<_> = (0..2)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.cancel(id).await })
        })
        .collect();
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'
        AND datname = current_database()";
    let both = async || (place.run(waiting).await[0][0].as_deref() == Some("2")).then_some(());
    tasklock_test_support::wait::eventually_async(BOUND, both).await;
    for _ in 0..2 {
        let free = client.lease("free").acquire_within(Duration::from_secs(5));
        let guard = timeout(BOUND, free).await.expect("it has a bound");
        guard
            .expect("the store answers")
            .expect("it is free")
            .release()
            .await;
    }
    other.run("COMMIT").await.expect("it is there");
    for blocked in blocked {
        blocked
            .await
            .expect("it does not panic")
            .expect("it is there");
    }
}

/// It would wait for itself, renewed for ever.
pub(crate) async fn a_guard_that_locks_its_own_name_is_told(place: Place) {
    let client = client(&place).await;
    let guard = held(&client, "name").await;
    let locked = timeout(BOUND, guard.lock("name"))
        .await
        .expect("it does not wait");
    let error = locked
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default();
    assert!(error.contains("it would wait for itself"), "{error}");
    let other = guard.lock("another name").await.expect("that one is free");
    assert_eq!(other.check(), Ok(()));
    guard.release().await;
    assert!(
        other.check().is_err(),
        "lost with the one that it was taken under"
    );
}

/// In a thread that has no runtime, after as many polls.
pub(crate) async fn a_future_may_be_dropped_outside_of_a_runtime(place: Place) {
    let client = client(&place).await;
    let holder = held(&client, "outside").await;
    for polls in 1..6 {
        let url = place.url();
        let dropping = std::thread::spawn(move || dropped_outside(&url, polls));
        assert!(dropping.join().is_ok(), "{polls} polls: it panicked");
    }
    drop(holder);
    free_again(&client, "outside").await;
}

type Asking = Pin<Box<dyn Future<Output = ()> + Send>>;

fn dropped_outside(url: &str, polls: usize) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("threads are to be had");
    let client = runtime.block_on(Client::connect(url)).expect("it is there");
    let lease = || client.lease("outside").ttl(SHORT);
    let waits = lease().acquire_within(BOUND);
    let tries = lease().try_acquire();
    let both: [Asking; 2] = [
        Box::pin(async { drop(waits.await) }),
        Box::pin(async { drop(tries.await) }),
    ];
    for mut asking in both {
        let mut left = polls;
        runtime.block_on(poll_fn(|cx| {
            left -= 1;
            if asking.as_mut().poll(cx).is_ready() || left == 0 {
                return Poll::Ready(());
            }
            Poll::Pending
        }));
        drop(asking);
    }
}
