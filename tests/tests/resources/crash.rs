//! The process that holds a name is killed: whoever needs the name has it within the ttl and a moment.

use std::time::Duration;

use tasklock_test_support::process::{Worker, boottime};

use crate::support::{
    BOUND, Place, all_done, at, client, errand, number, print, ready, start_of, until, worker,
};

/// More than a look takes on a busy machine.
const SOON: Duration = Duration::from_millis(1_200);
const JOBS: u32 = 4;

on_both! {
    alone: a_killed_worker_frees_its_name_with_its_job,
    alone: a_killed_script_frees_its_name,
}

async fn a_killed_worker_frees_its_name_with_its_job(place: Place) {
    const TTL: Duration = Duration::from_secs(2);
    let client = client(&place).await;
    let first = client.enqueue("hangs_once", &errand(1, true));
    first.resource("invoice:1").await.expect("it is taken");
    let holder = worker(&place, "hangs_once", &[]);
    let started = start_of(&holder);
    for _ in 1..JOBS {
        let next = client.enqueue("hangs_once", &errand(1, false));
        next.resource("invoice:1").await.expect("it is taken");
    }
    let heir = worker(&place, "hangs_once", &[]);
    ready(&heir);
    parked(&place, JOBS - 1).await;
    holder.kill();
    let killed = boottime();
    let mut fence = number(&started, "resource_fence");
    let mut last = Duration::ZERO;
    for nth in 0..JOBS {
        let start = start_of(&heir);
        assert!(number(&start, "resource_fence") > fence, "{}", start.line);
        fence = number(&start, "resource_fence");
        last = at(&start) - killed;
        // Whoever held the name comes first.
        let attempt = if nth == 0 { 2 } else { 1 };
        assert_eq!(number(&start, "attempt"), attempt, "{}", start.line);
    }
    assert!(last < TTL + SOON, "{last:?} of a ttl of {TTL:?}");
    all_done(&place, "hangs_once").await;
    print(
        &place,
        &format!(
            "a worker was killed that held a name: its job and {} more of the name had started elsewhere {last:.1?} later (ttl {TTL:?})",
            JOBS - 1
        ),
    );
}

async fn a_killed_script_frees_its_name(place: Place) {
    const TTL: Duration = Duration::from_secs(1);
    let client = client(&place).await;
    let script: Worker = worker(&place, "", &[("WORKER_HOLDS", "invoice:1")]);
    script.wait_for(BOUND, |event| event.is("held"));
    for _ in 0..JOBS {
        let job = client.enqueue("hangs_once", &errand(1, false));
        job.resource("invoice:1").await.expect("it is taken");
    }
    let heir = worker(&place, "hangs_once", &[]);
    parked(&place, JOBS).await;
    script.kill();
    let killed = boottime();
    let last = (0..JOBS).map(|_| at(&start_of(&heir)) - killed).max();
    let last = last.expect("there are some");
    assert!(last < TTL + SOON, "{last:?} of a ttl of {TTL:?}");
    all_done(&place, "hangs_once").await;
    print(
        &place,
        &format!(
            "a script was killed that held a name by hand: {JOBS} jobs of the name had started {last:.1?} later (ttl {TTL:?})"
        ),
    );
}

/// So many have met the busy name.
async fn parked(place: &Place, jobs: u32) {
    let parked = "SELECT count(*) FROM tasklock_job WHERE parked_rank IS NOT NULL";
    until(place, jobs.into(), parked).await;
}
