//! Where the name comes from.

use std::collections::BTreeMap;

use tasklock_runtime::JobState;

use crate::support::{
    BOUND, Notes, Place, all_done, client, count, errand, print, ready, start_of, until, worker,
};

on_both! {
    beside: handles_name_it_where_a_job_is_enqueued,
    beside: a_job_that_lacks_it_gets_it_from_the_worker,
}

async fn handles_name_it_where_a_job_is_enqueued(place: Place) {
    place.migrate().await;
    let enqueues = worker(&place, "bills", &[("WORKER_ENQUEUES", "42")]);
    assert_eq!(enqueues.wait_exit(BOUND).code(), Some(0));
    let names = place
        .run("SELECT task, resource, state FROM tasklock_job WHERE task <> 'tasklock.lease' ORDER BY id")
        .await;
    let tasks = ["bills", "bills", "bills", "invoice.reminds"];
    let expected = tasks.map(|task| [task, "invoice:42", "ready"].map(|it| Some(it.to_owned())));
    assert_eq!(names, expected);
}

/// Enqueued by name, it has no resource; and it does not run beside somebody who holds it.
async fn a_job_that_lacks_it_gets_it_from_the_worker(place: Place) {
    let client = client(&place).await;
    Notes::install(&place).await;
    let mut hands = BTreeMap::new();
    for invoice in [1, 2] {
        let lease = client.lease(format!("invoice:{invoice}")).try_acquire();
        let held = lease.await.expect("the store answers").expect("it is free");
        hands.insert(invoice, held);
    }
    let mut jobs = Vec::new();
    for invoice in 1..=3 {
        let job = client.enqueue("bills", &errand(invoice, false)).await;
        jobs.push(job.expect("it is taken").id());
    }
    let lacking = "SELECT count(*) FROM tasklock_job WHERE task = 'bills' AND resource IS NULL";
    assert_eq!(count(&place, lacking).await, 3);
    let worker = worker(&place, "bills", &[]);
    ready(&worker);
    assert_eq!(start_of(&worker).str("resource"), Some("invoice:3"));
    until(&place, 0, lacking).await;
    let parked = "SELECT count(*) FROM tasklock_job WHERE parked_rank IS NOT NULL";
    until(&place, 2, parked).await;
    for (invoice, held) in hands {
        let fence = held.fence();
        held.release().await;
        let start = start_of(&worker);
        let name = format!("invoice:{invoice}");
        assert_eq!(start.str("resource"), Some(&*name), "{}", start.line);
        assert!(crate::support::number(&start, "resource_fence") > fence);
    }
    all_done(&place, "bills").await;
    for job in jobs {
        let job = client.job(job).await.ok().flatten();
        let job = job.expect("it is kept");
        // Neither the claim that found out the name nor the wait for it counts as an attempt.
        assert_eq!(
            (job.state, job.attempt, job.crashes),
            (JobState::Done, 1, 0)
        );
    }
    print(
        &place,
        "jobs that were enqueued by name got their resource from the worker, and waited for it",
    );
}
