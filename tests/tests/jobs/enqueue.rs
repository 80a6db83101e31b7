//! Enqueueing: in a transaction of the application's, many at once, and one of each key.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use sqlx::Connection;
use tasklock_runtime::{Client, Enqueued};
use tasklock_test_support::process::boottime;
use tasklock_tests::stage::database::Database;

use crate::support::{
    Audit, BOUND, Place, What, all_over, client, connected, count, number, print, ready, spread,
    start_of, stop, worker,
};

on_both! {
    alone: a_job_is_there_when_its_transaction_commits,
    alone: a_hundred_thousand_at_once,
    alone: one_of_each_key_waits_or_runs,
}

/// Far more than the test takes: what is run was announced.
const POLL: (&str, &str) = ("TASKLOCK_POLL_INTERVAL", "60s");
const SOON: Duration = Duration::from_secs(5);

async fn a_job_is_there_when_its_transaction_commits(place: Place) {
    let client = client(&place).await;
    let worker = worker(&place, "note", &[POLL]);
    ready(&worker);
    let mut latencies = Vec::new();
    for round in 0..10 {
        let mut connection = place.connect().await;
        let open = Enqueueing::begin(&mut connection, &client, round).await;
        let id = open.id;
        assert_eq!(client.job(id).await.ok().flatten(), None);
        if matches!(place, Place::Postgres(_)) {
            // Enqueued later, and run before. (On SQLite one transaction writes at a time.)
            let other = client.enqueue("note", &round).await;
            let other = other.expect("the database takes it");
            assert_eq!(number(&start_of(&worker), "job"), other.id());
        }
        let told = worker
            .events()
            .iter()
            .any(|event| event.u64("job") == Some(id.cast_unsigned()));
        assert!(!told, "run before its commit: {}", worker.report());
        let committed = boottime();
        open.commit().await;
        let start = start_of(&worker);
        assert_eq!(number(&start, "job"), id);
        latencies.push(start.boottime().expect("it tells") - committed);
    }
    assert!(
        latencies.iter().all(|latency| *latency < SOON),
        "{latencies:?}"
    );

    let mut connection = place.connect().await;
    let open = Enqueueing::begin(&mut connection, &client, 77).await;
    let id = open.id;
    open.roll_back().await;
    assert_eq!(client.job(id).await.ok().flatten(), None);
    let next = client
        .enqueue("note", &78)
        .await
        .expect("the database takes it");
    assert_eq!(number(&start_of(&worker), "job"), next.id());
    stop(&worker);
    // An id may be used again on SQLite, where the rolled back one was never seen.
    let ran = count(
        &place,
        "SELECT count(*) FROM tasklock_job WHERE payload = '77'",
    )
    .await;
    assert_eq!(ran, 0);
    print(&format!(
        "{}: from the commit to the start, polling every 60 s (600 s where announced), 10 times: {}",
        place.kind(),
        spread(&mut latencies)
    ));
}

/// A transaction of the application's in which a job is enqueued.
struct Enqueueing<'a> {
    id: i64,
    transaction: Transaction<'a>,
}

enum Transaction<'a> {
    Postgres(sqlx::Transaction<'a, sqlx::Postgres>),
    MySql(sqlx::Transaction<'a, sqlx::MySql>),
    Sqlite(sqlx::Transaction<'a, sqlx::Sqlite>),
}

impl<'a> Enqueueing<'a> {
    async fn begin(database: &'a mut Database, client: &Client, payload: i64) -> Self {
        let enqueue = client.enqueue("note", &payload);
        let (enqueued, transaction) = match database {
            Database::Postgres(connection) => {
                let mut tx = connection.begin().await.expect("the server is there");
                (enqueue.within(&mut tx).await, Transaction::Postgres(tx))
            }
            Database::MySql(connection) => {
                let mut tx = connection.begin().await.expect("the server is there");
                (enqueue.within(&mut tx).await, Transaction::MySql(tx))
            }
            Database::Sqlite(connection) => {
                let tx = connection.begin_with("BEGIN IMMEDIATE").await;
                let mut tx = tx.expect("the write lock comes to everybody");
                (enqueue.within(&mut tx).await, Transaction::Sqlite(tx))
            }
            Database::Redis(_) => panic!("Redis has no transactions"),
        };
        let Ok(Enqueued::New(id)) = enqueued else {
            panic!("not enqueued: {enqueued:?}");
        };
        Self { id, transaction }
    }

    async fn commit(self) {
        let committed = match self.transaction {
            Transaction::Postgres(tx) => tx.commit().await,
            Transaction::MySql(tx) => tx.commit().await,
            Transaction::Sqlite(tx) => tx.commit().await,
        };
        committed.expect("nothing speaks against it");
    }

    async fn roll_back(self) {
        let rolled_back = match self.transaction {
            Transaction::Postgres(tx) => tx.rollback().await,
            Transaction::MySql(tx) => tx.rollback().await,
            Transaction::Sqlite(tx) => tx.rollback().await,
        };
        rolled_back.expect("the database is there");
    }
}

async fn a_hundred_thousand_at_once(place: Place) {
    const JOBS: i64 = 100_000;
    let client = client(&place).await;
    let from = boottime();
    let enqueued = client.enqueue_many("note", 0..JOBS).await;
    let took = boottime() - from;
    let enqueued = enqueued.expect("the database takes them");
    let ids: BTreeSet<i64> = enqueued.iter().map(|job| job.id()).collect();
    assert!(enqueued.iter().all(|job| job.is_new()));
    assert_eq!(ids.len(), 100_000);
    // Ids ascend in the order of the payloads: each answer is about its own.
    let rows = place
        .run("SELECT id, payload FROM tasklock_job ORDER BY id")
        .await;
    assert_eq!(rows.len(), 100_000);
    for ((row, job), payload) in rows.iter().zip(&enqueued).zip(0..JOBS) {
        let expected = [Some(job.id().to_string()), Some(payload.to_string())];
        assert_eq!(row[..], expected);
    }
    print(&format!(
        "{}: {JOBS} jobs by one `enqueue_many`: {took:.2?}",
        place.kind()
    ));
}

async fn one_of_each_key_waits_or_runs(place: Place) {
    const CLIENTS: usize = 8;
    const KEYS: usize = 50;
    const ROUNDS: usize = 6;
    let first = client(&place).await;
    Audit::install(&place).await;
    let fleet = [(); 2].map(|()| worker(&place, "keyed", &[]));
    for worker in &fleet {
        ready(worker);
    }
    let mut clients = tokio::task::JoinSet::new();
    for nth in 0..CLIENTS {
        let client = connected(&place).await;
        clients.spawn(async move {
            let mut answers = Vec::new();
            for number in 0..KEYS * ROUNDS {
                // Each begins elsewhere, and they meet.
                let key = (number + nth * 6) % KEYS;
                let job = client.enqueue("keyed", &key).unique(key.to_string()).await;
                answers.push((key, job.expect("the database takes it")));
            }
            answers
        });
    }
    let answers = tokio::time::timeout(BOUND, clients.join_all()).await;
    let answers = answers.expect("within the bound").concat();
    all_over(&place, "keyed").await;

    let mut keys: BTreeMap<i64, usize> = BTreeMap::new();
    for (key, job) in &answers {
        if job.is_new() {
            assert_eq!(keys.insert(job.id(), *key), None, "new twice: {job:?}");
        }
    }
    for (key, job) in &answers {
        assert_eq!(keys.get(&job.id()), Some(key), "{job:?} has another key");
    }
    let new = keys.len();
    assert!(
        new > KEYS,
        "{new} jobs: none got in after the first of its key"
    );
    let mut open: BTreeMap<String, i64> = BTreeMap::new();
    let mut runs = 0;
    for event in Audit::of(&place, "keyed").await {
        let key = event.key.clone().expect("each has a key");
        if event.what == What::New {
            let other = open.insert(key, event.job);
            assert_eq!(other, None, "{event:?} beside another");
        } else if event.is_over() {
            assert_eq!(open.remove(&key), Some(event.job), "{event:?}");
        }
        runs += usize::from(event.starts());
    }
    assert!(open.is_empty(), "{open:?}");
    assert_eq!(runs, new);

    // None waits or runs by now: each key is free.
    for worker in &fleet {
        stop(worker);
    }
    for key in 0..KEYS {
        let enqueue = || first.enqueue("keyed", &key).unique(key.to_string());
        let job = enqueue().await.expect("the database takes it");
        assert!(job.is_new(), "{job:?}");
        let again = enqueue().await.ok();
        assert_eq!(again, Some(Enqueued::Existing(job.id())));
    }
    print(&format!(
        "{}: {} calls by {CLIENTS} clients for {KEYS} keys, 2 workers: {new} jobs, never two of one key",
        place.kind(),
        answers.len()
    ));
}
