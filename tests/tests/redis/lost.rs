//! A server that is restarted without persistence has lost everything.

use std::slice::from_ref;

use tasklock_runtime::StoreErrorKind;
use tasklock_runtime::store::Enqueued;
use tasklock_test_support::process::Worker;
use tasklock_test_support::redis::{Server, Stop};
use tasklock_test_support::wait::eventually_async;
use tasklock_tests::stage::{next_start, number, start_of, worker};

use crate::steps::{BOUND, LONG, acquire, claim, done, job, open, renewal, standing, store};

const PROGRAM: &str = env!("CARGO_BIN_EXE_main_job_worker");

/// The holder is told, nothing says that it has succeeded, and the scheduled task comes back by itself, with a greater fence.
#[tokio::test(flavor = "multi_thread")]
async fn a_holder_is_told_and_its_task_comes_back() {
    let Some(server) = Server::start().await else {
        return;
    };
    let worker = worker(PROGRAM, server.url(), "hold", &[]);
    let before = start_of(&worker);
    let store = open(server.url(), None).await.expect("it is there");
    server.restart(Stop::Immediate).await;
    let told = worker.wait_for(BOUND, |event| event.is("end"));
    assert_eq!(number(&told, "fence"), number(&before, "fence"));
    let after = start_again(&worker, &before).await;
    assert!(number(&after, "fence") > number(&before, "fence"));
    let row = store.standing("hold").await.expect("it answers");
    let row = row.expect("it was declared again");
    assert_eq!(
        row.last_outcome, None,
        "nothing says how the lost run ended: {row:?}"
    );
    // The version is there again, for those who start without `migrate`.
    store.check_schema().await.expect("a worker has written it");
}

async fn start_again(
    worker: &Worker,
    before: &tasklock_test_support::process::Event,
) -> tasklock_test_support::process::Event {
    tokio::task::block_in_place(|| next_start(&[worker], before))
}

#[tokio::test]
async fn leases_are_gone_and_fences_and_ids_do_not_go_back() {
    let Some(server) = Server::start().await else {
        return;
    };
    let store = store(server.url()).await;
    store
        .declare(&[standing("task")])
        .await
        .expect("it answers");
    let held = claim(&*store, "task", 1).await.remove(0);
    let name = acquire(&*store, "name").await.expect("it is free");
    let ids = store.enqueue(&[job("other"), job("other")]).await;
    let last = ids.expect("it answers")[1].id();
    let mut renewer = store.renewer();
    renewer.connect().await.expect("it is there");
    assert_eq!(
        renewer
            .renew(&[renewal(&held.key)])
            .await
            .expect("it answers"),
        [held.key.job]
    );

    server.restart(Stop::Immediate).await;
    // The connection is lost, and found out by the first call.
    eventually_async(BOUND, async || {
        renewer.reset();
        renewer.connect().await.ok()
    })
    .await;
    let keys = [held.key.clone(), name.clone()];
    let renewals = keys.each_ref().map(renewal);
    assert!(
        renewer
            .renew(&renewals)
            .await
            .expect("it answers")
            .is_empty()
    );
    let rows = renewer.inspect(&[held.key.job, name.job]).await;
    assert!(
        rows.expect("it answers").is_empty(),
        "a lease without a row is lost"
    );
    assert!(
        store
            .finish(&[done(&held.key)])
            .await
            .expect("it answers")
            .is_empty()
    );
    assert!(
        store
            .release(from_ref(&name))
            .await
            .expect("it answers")
            .is_empty()
    );
    let refused = store.check_schema().await.expect_err("nothing is there");
    assert_eq!(refused.kind(), StoreErrorKind::Schema, "{refused}");

    let missing = store.tend(&[standing("task")]).await.expect("it answers");
    assert_eq!(missing, ["task"]);
    store.check_schema().await.expect("it is known again");
    store
        .declare(&[standing("task")])
        .await
        .expect("it answers");
    let again = claim(&*store, "task", 1).await.remove(0);
    assert!(again.key.fence > held.key.fence && again.key.job > last);
    let name_again = acquire(&*store, "name").await.expect("it is free");
    assert!(name_again.fence > name.fence && name_again.job > last);
    let new = store.enqueue(&[job("other")]).await.expect("it answers");
    assert!(
        matches!(new[..], [Enqueued::New(id)] if id > last),
        "{new:?}"
    );
    // A former owner changes nothing, whatever has taken its row's place.
    assert!(
        store
            .finish(&[done(&held.key)])
            .await
            .expect("it answers")
            .is_empty()
    );
    let row = store
        .inspect(&[again.key.job])
        .await
        .expect("it answers")
        .remove(0);
    assert!(row.is_held_under(&again.key) && row.left <= Some(LONG));
}
