//! Odd rows among others, at random.

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use tasklock_runtime::Next;

use super::{allow_any_state, rows, set, until_quiet};
use crate::steps::{LONG, end, jobs, renewals, renewer};
use crate::world::{Sql, World};

const ROWS: usize = 60;
const TASKS: usize = 7;
/// A number here makes the rows of a failed run again.
const SEED: &str = "TASKLOCK_TEST_SEED";

/// SplitMix64.
struct Random(u64);

impl Random {
    fn new() -> Self {
        let seed = match std::env::var(SEED) {
            Ok(seed) => seed.parse().expect("the seed is a number"),
            Err(_) => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
                u64::try_from(now.as_nanos() % 1_000_000_007).unwrap()
            }
        };
        println!("{SEED}={seed}");
        Self(seed)
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(end).unwrap()).unwrap()
    }
}

pub(crate) async fn among_random_rows_every_sane_one_is_claimed(world: &World) {
    let store = world.store().await;
    let Some(mut sql) = world.sql().await else {
        return;
    };
    allow_any_state(&mut sql).await;
    let mut random = Random::new();
    let odd = rows::all(&sql);
    let tasks: Vec<_> = (0..TASKS).map(|number| format!("task {number}")).collect();
    let mut sane = BTreeSet::new();
    for job in 1..=ROWS {
        let task = &tasks[random.below(TASKS)];
        insert(&mut sql, job, task, random.below(1_000)).await;
        let job = i64::try_from(job).unwrap();
        let mut oddities = Vec::new();
        for _ in 0..random.below(4) {
            oddities.push(&odd[random.below(odd.len())]);
        }
        for odd in &oddities {
            set(&mut sql, job, odd).await;
        }
        println!("{job} {task}: {oddities:?}");
        if oddities.is_empty() {
            sane.insert(job);
        }
    }

    let claims = until_quiet(&*store, &tasks, 1 + random.below(9)).await;
    let taken = jobs(&claims);
    assert_eq!(BTreeSet::from_iter(&taken).len(), taken.len(), "each once");
    let missed: Vec<_> = sane.iter().filter(|job| !taken.contains(job)).collect();
    assert!(missed.is_empty(), "sane, but not claimed: {missed:?}");

    let mut renewer = renewer(&*store).await;
    let renewed = renewer.renew(&renewals(&claims, LONG)).await.unwrap();
    // But for what is to be cancelled.
    let goes_on = claims.iter().filter(|claim| !claim.to_cancel);
    let goes_on = goes_on.map(|claim| claim.key.job);
    assert_eq!(BTreeSet::from_iter(renewed), goes_on.collect());
    let all: Vec<i64> = (1..=i64::try_from(ROWS).unwrap()).collect();
    assert_eq!(store.inspect(&all).await.unwrap().len(), ROWS);
    let ends: Vec<_> = claims
        .iter()
        .map(|claim| end(&claim.key, Next::at(claim.due_at.saturating_add(i64::MAX))))
        .collect();
    let finished = store.finish(&ends).await.unwrap();
    assert_eq!(BTreeSet::from_iter(finished), BTreeSet::from_iter(taken));
    assert_eq!(until_quiet(&*store, &tasks, 9).await, []);
}

/// A job that is due, one of several of its task.
async fn insert(sql: &mut Sql, job: usize, task: &str, due: usize) {
    let statement = match sql {
        Sql::Sqlite(_) | Sql::MySql(_) => format!(
            "INSERT INTO tasklock_job (id, task, unique_key, due_at, created_at)
             VALUES ({job}, '{task}', '{job}', {due}, 0)"
        ),
        Sql::Postgres(_) => format!(
            "INSERT INTO tasklock_job (id, task, unique_key, due_at)
             VALUES ({job}, '{task}', '{job}', to_timestamp({due}))"
        ),
    };
    sql.execute(&statement).await;
}
