//! Jobs of two tasks on a few names, while a script takes the same names by hand and workers are killed: no
//! name has two holders at once, by the store's clock, and everything ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;
use tasklock_runtime::Client;
use tasklock_test_support::process::{Worker, boottime};
use tasklock_test_support::wait::eventually_async;
use tokio::task::JoinHandle;

use crate::support::{
    BOUND, Notes, Place, all_done, client, connected, count, errand, one_at_a_time, print, ready,
    until, worker,
};

const JOBS: u32 = 200;
const NAMES: u32 = 10;
const SLOTS: i64 = 8;
const KILLS: i64 = 2;

on_both! { alone: one_holder_of_a_name_at_a_time }

async fn one_holder_of_a_name_at_a_time(place: Place) {
    let client = client(&place).await;
    Notes::install(&place).await;
    let mut fleet: Vec<_> = (0..3).map(|name| start(&place, name)).collect();
    fleet.iter().for_each(|(_, worker)| ready(worker));
    let from = boottime();
    let script = Script::start(&place).await;
    enqueue(&client).await;
    let done = "SELECT count(*) FROM tasklock_job WHERE state = 'done'";
    for part in [1, 2] {
        kill_a_holder(&place, &mut fleet, part * JOBS / 4).await;
        fleet.push(start(&place, part + 2));
    }
    for task in ["bills", "invoice.reminds"] {
        all_done(&place, task).await;
    }
    until(&place, i64::from(JOBS), done).await;
    let took = boottime() - from;
    let by_hand = script.stop().await;

    let notes = Notes::read(&place).await;
    assert_eq!(one_at_a_time(&notes), 10);
    // Each job under its last fence at least, and each turn of the script.
    let jobs = "SELECT count(DISTINCT n.job) FROM note n JOIN tasklock_job j ON j.id = n.job
        WHERE j.task <> 'tasklock.lease'";
    assert_eq!(count(&place, jobs).await, i64::from(JOBS));
    let turns = "SELECT count(*) FROM note n JOIN tasklock_job j ON j.id = n.job
        WHERE j.task = 'tasklock.lease'";
    assert_eq!(count(&place, turns).await, i64::from(by_hand));
    // Who waits by hand stands in no line with the jobs.
    assert!(by_hand > 0, "the script never had its turn");
    let crashes = count(&place, "SELECT sum(crashes) FROM tasklock_job").await;
    // The guard would refuse who has been robbed: his job would be taken over, though nobody has killed him.
    let most = KILLS * SLOTS;
    assert!(
        (1..=most).contains(&crashes),
        "{crashes} crashes, of {most} runs that may have been killed"
    );
    print(
        &place,
        &format!(
            "{JOBS} jobs of 2 tasks on {NAMES} names in {took:.1?} by 3 workers of 8 slots, 2 of them killed \
             ({crashes} crashes), and {by_hand} leases by hand of the same names: {} intervals, none overlaps",
            notes.len()
        ),
    );
}

fn start(place: &Place, name: u32) -> (String, Worker) {
    let name = format!("worker {name}");
    let more = [
        ("TASKLOCK_CONCURRENCY", "8"),
        ("TASKLOCK_WORKER_NAME", &*name),
    ];
    let started = worker(place, "bills,invoice.reminds", &more);
    (name, started)
}

/// Once so many jobs are done, stops workers until one of them has a name, and kills that.
async fn kill_a_holder(place: &Place, fleet: &mut Vec<(String, Worker)>, done: u32) {
    let mut database = place.connect().await;
    let reached = format!("SELECT count(*) >= {done} FROM tasklock_job WHERE state = 'done'");
    eventually_async(BOUND, async || {
        let rows = database.run(&reached).await.expect("it is a statement");
        matches!(rows[0][0].as_deref(), Some("t" | "1")).then_some(())
    })
    .await;
    let holders =
        "SELECT lock_worker FROM tasklock_job WHERE state = 'running' AND resource IS NOT NULL";
    for nth in (0..fleet.len()).cycle() {
        let (name, worker) = &fleet[nth];
        worker.stop();
        let rows = database.run(holders).await.expect("the tables are there");
        if rows.iter().any(|row| row[0].as_ref() == Some(name)) {
            worker.kill();
            fleet.remove(nth);
            return;
        }
        worker.cont();
    }
}

/// A part of them without the name of their resource, as an older version would.
async fn enqueue(client: &Client) {
    for nth in 0..JOBS {
        let invoice = nth % NAMES;
        let name = format!("invoice:{invoice}");
        let job = if nth % 20 < 10 {
            client.enqueue("bills", &errand(invoice, false))
        } else {
            client.enqueue("invoice.reminds", &json!([invoice, "soon"]))
        };
        let job = if nth % 3 == 0 {
            job
        } else {
            job.resource(name)
        };
        job.await.expect("the database takes it");
    }
}

/// Takes one name after the other by hand.
struct Script {
    over: Arc<AtomicBool>,
    turns: Arc<AtomicU32>,
    parts: Vec<JoinHandle<()>>,
}

impl Script {
    async fn start(place: &Place) -> Self {
        let (over, turns) = (Arc::default(), Arc::default());
        let mut script = Self {
            over,
            turns,
            parts: Vec::new(),
        };
        for part in 0..2 {
            let (client, notes) = (connected(place).await, Notes::open(&place.url()));
            let (over, turns) = (Arc::clone(&script.over), Arc::clone(&script.turns));
            script.parts.push(tokio::spawn(async move {
                for nth in (0..NAMES).cycle().skip(part * 5) {
                    if over.load(Ordering::Acquire) {
                        break;
                    }
                    if has_its_turn(&client, &notes, nth).await {
                        turns.fetch_add(1, Ordering::AcqRel);
                    }
                }
            }));
        }
        script
    }

    /// Answers how often it had a name.
    async fn stop(self) -> u32 {
        self.over.store(true, Ordering::Release);
        for part in self.parts {
            part.await.expect("the script does not fail");
        }
        self.turns.load(Ordering::Acquire)
    }
}

/// Whether it had the name, in the midst of everybody else.
async fn has_its_turn(client: &Client, notes: &Notes, invoice: u32) -> bool {
    let lease = client.lease(format!("invoice:{invoice}"));
    let lease = lease.ttl(Duration::from_secs(2));
    let acquired = lease.acquire_within(Duration::from_secs(5)).await;
    let Some(held) = acquired.expect("the store answers") else {
        return false;
    };
    for _ in 0..2 {
        notes.note(&held, false).await.expect("it is held");
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
    held.release().await;
    true
}
