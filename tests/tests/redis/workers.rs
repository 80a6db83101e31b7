//! Worker processes on Redis: killed, stopped, and with a server that goes away and comes back with its data.

use std::time::Duration;

use tasklock_runtime::store::{JobQuery, NewJob};
use tasklock_runtime::{JobState, LeaseKey, OwnerToken};
use tasklock_test_support::process::{Worker, boottime};
use tasklock_test_support::redis::{Server, Stop};
use tasklock_test_support::wait::eventually_async;
use tasklock_tests::stage::{next_start, number, ready, start_of, worker};

use crate::steps::{BOUND, done, job, open, renewal, store};

const PROGRAM: &str = env!("CARGO_BIN_EXE_main_job_worker");
const JOBS_PROGRAM: &str = env!("CARGO_BIN_EXE_jobs_worker");
/// Of the task `hold`.
const TTL: Duration = Duration::from_secs(2);
/// The default.
const POLL: Duration = Duration::from_secs(1);

fn start(server: &Server, task: &str) -> Worker {
    worker(PROGRAM, server.url(), task, &[])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_holder_is_replaced() {
    let Some(server) = Server::start().await else {
        return;
    };
    let mut holder = start(&server, "hold");
    let mut held = start_of(&holder);
    for round in 0..3 {
        let other = start(&server, "hold");
        ready(&other);
        let killed = boottime();
        holder.kill();
        let taken = start_of(&other);
        let took = taken.boottime().expect("it tells") - killed;
        println!("round {round}: {took:?} from SIGKILL to the next start");
        assert!(took <= TTL + POLL, "round {round}: {took:?}");
        assert!(number(&taken, "fence") > number(&held, "fence"));
        (holder, held) = (other, taken);
    }
}

/// It knows, and what it still writes changes nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_holder_is_lost_when_it_wakes() {
    let Some(server) = Server::start().await else {
        return;
    };
    let holder = start(&server, "spin");
    let held = start_of(&holder);
    let other = start(&server, "spin");
    ready(&other);
    holder.stop();
    let taken = next_start(&[&other], &held);
    other.stop();
    let store = open(server.url(), None).await.expect("it is there");
    let before = store.standing("spin").await.expect("it answers");
    let before = before.expect("it was declared");
    assert_eq!(before.fence, number(&taken, "fence"));
    let woken = boottime();
    holder.cont();
    let check = holder.wait_for(BOUND, |event| {
        event.is("check") && event.boottime().is_some_and(|at| at >= woken)
    });
    assert_eq!(check.get("held"), Some(&false.into()));
    assert_eq!(number(&check, "fence"), number(&held, "fence"));
    // And what it would still write changes nothing.
    let key = LeaseKey {
        job: before.job,
        fence: number(&held, "fence"),
        owner: OwnerToken::from_stored(held.str("owner").expect("it tells")),
    };
    let mut renewer = store.renewer();
    let renewed = renewer.renew(&[renewal(&key)]).await;
    assert!(renewed.expect("it answers").is_empty());
    let ended = store.finish(&[done(&key)]).await;
    assert!(ended.expect("it answers").is_empty());
    let released = store.release(&[key]).await;
    assert!(released.expect("it answers").is_empty());
}

/// An outage that is shorter than what a lease survives costs nothing: neither a server that does not answer, nor one that is
/// restarted with its data.
#[tokio::test(flavor = "multi_thread")]
async fn a_short_outage_costs_nothing() {
    let Some(server) = Server::start().await else {
        return;
    };
    server.set("appendonly", "yes").await;
    let worker = start(&server, "steady");
    let store = open(server.url(), None).await.expect("it is there");
    ready(&worker);
    store.trigger("steady").await.expect("it answers");
    let held = start_of(&worker);
    server.pause().await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    server.resume().await;
    server.stop(Stop::Fast).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    server.start_again().await;
    // More than the outage has left of it.
    let renewed = async || {
        let row = store.standing("steady").await.ok()??;
        (row.left > Some(Duration::from_secs(15))).then_some(row)
    };
    let row = eventually_async(BOUND, renewed).await;
    assert!(
        !worker.events().iter().any(|event| event.is("end")),
        "{}",
        worker.report()
    );
    assert!(
        row.running && row.fence == number(&held, "fence"),
        "{row:?}"
    );
}

/// In a longer one the holder is told while the server is away, and the task goes on when it is back.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_outage_is_told_in_time() {
    let Some(server) = Server::start().await else {
        return;
    };
    let worker = start(&server, "hold");
    let held = start_of(&worker);
    server.pause().await;
    let told = worker.wait_for(BOUND, |event| event.is("end"));
    assert_eq!(number(&told, "fence"), number(&held, "fence"));
    server.resume().await;
    let again = next_start(&[&worker], &held);
    assert!(again.boottime() > told.boottime());
}

/// What is given back at a clean stop is taken at once, for it is announced.
#[tokio::test(flavor = "multi_thread")]
async fn a_clean_stop_gives_back_at_once() {
    let Some(server) = Server::start().await else {
        return;
    };
    let holder = start(&server, "hold_long");
    let held = start_of(&holder);
    let other = start(&server, "hold_long");
    ready(&other);
    let stopped = boottime();
    holder.term();
    let taken = next_start(&[&other], &held);
    let took = taken.boottime().expect("it tells") - stopped;
    println!("{took:?} from SIGTERM to the next start");
    assert!(took < Duration::from_secs(5), "{took:?}");
}

/// Every job ends, as often as it was started, whoever is killed meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn every_job_ends_while_workers_are_killed() {
    const JOBS: usize = 1_500;
    let Some(server) = Server::start().await else {
        return;
    };
    let store = store(server.url()).await;
    let numbered = |number: usize| NewJob {
        payload: Some(number.to_string()),
        ..job("ranked")
    };
    let jobs: Vec<NewJob> = (0..JOBS).map(numbered).collect();
    let ids = store.enqueue(&jobs).await.expect("it answers");
    let start = || {
        worker(
            JOBS_PROGRAM,
            server.url(),
            "ranked",
            &[("WORKER_BARE", "1")],
        )
    };
    let mut workers = [start(), start()];
    for round in 0..6 {
        let victim = &mut workers[round % 2];
        ready(victim);
        tokio::time::sleep(Duration::from_millis(150)).await;
        victim.kill();
        *victim = start();
    }
    let open = JobQuery {
        task: None,
        states: vec![JobState::Ready, JobState::Running],
        before: i64::MAX,
        limit: 1,
    };
    let ended = async || {
        let open = store.jobs(&open).await.expect("it answers");
        open.is_empty().then_some(())
    };
    eventually_async(BOUND, ended).await;
    let mut crashes = 0;
    for id in &ids {
        let job = store.job(id.id()).await.expect("it answers");
        let job = job.expect("it is kept for a day");
        assert_eq!(
            (job.state, job.attempt),
            (JobState::Done, job.crashes + 1),
            "{job:?}"
        );
        crashes += job.crashes;
    }
    println!("{JOBS} jobs have ended, {crashes} runs were cut off");
    assert!(crashes > 0, "no kill has hit a run");
}
