//! Thousands of jobs that wait for one busy name: those of free names do not wait with them.

use std::time::Duration;

use tasklock_runtime::Client;
use tasklock_test_support::process::{Worker, boottime};
use tasklock_test_support::wait::eventually_async;

use crate::support::{BOUND, Place, client, count, print, ready, until, worker};

const WAITING: i64 = 10_000;
const JOBS: i64 = 100;
const ROUNDS: usize = 5;
/// How many times longer they may take at most.
const MOST: f64 = 3.0;
const PARKED: &str = "SELECT count(*) FROM tasklock_job WHERE parked_rank IS NOT NULL";

on_both! { alone: a_busy_name_holds_up_nobody_else }

/// A database with a worker.
struct Side {
    place: Place,
    client: Client,
    _worker: Worker,
}

impl Side {
    async fn new(place: Place) -> Self {
        let client = client(&place).await;
        let worker = worker(&place, "apart", &[("TASKLOCK_CONCURRENCY", "8")]);
        ready(&worker);
        Self {
            place,
            client,
            _worker: worker,
        }
    }

    /// The lesser of two numbers, as the database says it.
    fn least(&self) -> &'static str {
        match self.place {
            Place::Sqlite(_) => "min",
            Place::Postgres(_) => "least",
        }
    }

    /// How long some jobs take, each of its own name.
    async fn round(&self) -> Duration {
        let names = (0..JOBS).map(|number| format!("item:{number}"));
        let from = boottime();
        let jobs = self.client.enqueue_many("apart", 0..JOBS).resources(names);
        let jobs = jobs.await.expect("the database takes them");
        // One row at a time: what is counted below is not what the test reads.
        let mut database = self.place.connect().await;
        for job in jobs {
            let done = format!(
                "SELECT 1 FROM tasklock_job WHERE id = {} AND state = 'done'",
                job.id()
            );
            eventually_async(BOUND, async || {
                let found = database.run(&done).await.expect("it is a statement");
                (!found.is_empty()).then_some(())
            })
            .await;
        }
        boottime() - from
    }
}

async fn a_busy_name_holds_up_nobody_else(place: Place) {
    let other = match &place {
        Place::Sqlite(_) => Some(Place::sqlite()),
        Place::Postgres(_) => Place::postgres().await,
    };
    let alone = Side::new(other.expect("there was one before")).await;
    let behind = Side::new(place).await;
    let lease = behind.client.lease("item:-1").try_acquire().await;
    let held = lease.expect("the store answers").expect("it is free");
    let numbers = (0..WAITING).map(|_| -1);
    let names = (0..WAITING).map(|_| "item:-1".to_owned());
    let from = boottime();
    let waiting = behind
        .client
        .enqueue_many("apart", numbers)
        .resources(names);
    waiting.await.expect("the database takes them");
    // The first ones meet them on their way.
    let first = behind.round().await;
    until(&behind.place, WAITING, PARKED).await;
    let parked = boottime() - from;
    let _ = alone.round().await;

    let mut ratios = Vec::new();
    let before = [
        rows_read(&alone.place).await,
        rows_read(&behind.place).await,
    ];
    for round in 0..ROUNDS {
        let mut times = [Duration::ZERO; 2];
        for turn in 0..2 {
            let which = (round + turn) % 2;
            let side = [&alone, &behind][which];
            times[which] = side.round().await;
        }
        ratios.push((times[1].as_secs_f64() / times[0].as_secs_f64(), times));
    }
    assert_eq!(count(&behind.place, PARKED).await, WAITING, "none has run");
    ratios.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (ratio, [without, with]) = ratios[ROUNDS / 2];
    let (least, most) = (ratios[0].0, ratios[ROUNDS - 1].0);
    let each = JOBS * i64::try_from(ROUNDS).expect("it fits");
    let after = [
        rows_read(&alone.place).await,
        rows_read(&behind.place).await,
    ];
    let read = match [0, 1].map(|side| (after[side] - before[side]) / each) {
        [0, 0] => String::new(),
        [without, with] => {
            assert!(
                with < without + WAITING / 20,
                "{with} and {without} rows for each"
            );
            format!("; rows of the job table read for each, sweeps included: {with} and {without}")
        }
    };
    print(
        &behind.place,
        &format!(
            "{JOBS} jobs of free names with {WAITING} behind a busy one: {ratio:.2} times as long as without \
             (median of {ROUNDS}; {least:.2}–{most:.2}; {with:.0?} and {without:.0?}); the first {JOBS} took \
             {first:.1?}, all were parked after {parked:.1?}{read}"
        ),
    );
    assert!(ratio <= MOST, "{ratios:?}");
    // And when it is given back they run, one after the other.
    held.release().await;
    let done =
        "SELECT least(count(*), 5) FROM tasklock_job WHERE resource = 'item:-1' AND state = 'done'";
    until(&behind.place, 5, &done.replace("least", behind.least())).await;
}

/// By the server's own count; none where there is no server.
async fn rows_read(place: &Place) -> i64 {
    match place {
        Place::Sqlite(_) => 0,
        Place::Postgres(_) => {
            let read = "SELECT coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::bigint
                FROM pg_stat_user_tables WHERE relname = 'tasklock_job'";
            count(place, read).await
        }
    }
}
