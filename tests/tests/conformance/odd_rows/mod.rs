//! Rows written by another version, or by hand.
//!
//! Whatever one row holds, the others go on: no call fails or panics because of it, and nobody asks for
//! work without a pause. The odd row itself is taken as usual, or left alone; its fence never goes back.
//! These cases are for databases; what is in memory nobody else has written.

mod columns;
mod random;
mod rows;

use std::collections::BTreeSet;
use std::slice::from_ref;
use std::time::Duration;

use tasklock_runtime::JobState::{Cancelled, Dead, Done, Ready, Running};
use tasklock_runtime::store::{Claim, ClaimBatch, JobQuery, Renewer, Store};
use tasklock_runtime::{Next, Triggered};

use crate::steps::{
    LONG, claim, declare_due, end, held, jobs, renewal, renewals, renewer, row, standing, task,
};
use crate::world::{Sql, World};
pub(crate) use columns::{
    a_held_row_may_be_edited, an_unknown_pause_pauses_nothing, what_the_tables_refuse,
};
pub(crate) use random::among_random_rows_every_sane_one_is_claimed;
use rows::Odd;

/// One row, as the database has it.
pub(crate) async fn set(sql: &mut Sql, job: i64, odd: &Odd) {
    let statement = format!("UPDATE tasklock_job SET {} WHERE id = {job}", odd.set);
    sql.execute(&statement).await;
    if let Some(also) = odd.also {
        sql.execute("DELETE FROM tasklock_heartbeat").await;
        sql.execute(&also.replace("{job}", &job.to_string())).await;
    }
}

/// Lets a row be in states that this version does not know, as a later one's tables do.
pub(crate) async fn allow_any_state(sql: &mut Sql) {
    sql.execute(match sql {
        Sql::Sqlite(_) => "PRAGMA ignore_check_constraints = ON",
        Sql::MySql(_) => "ALTER TABLE tasklock_job DROP CONSTRAINT tasklock_job_state",
        Sql::Postgres(_) => {
            "ALTER TABLE tasklock_job DROP CONSTRAINT tasklock_job_state_check,
             ADD CHECK (state IS NOT NULL)"
        }
    })
    .await;
}

/// Asks for work until there is none, which must not take for ever.
pub(crate) async fn until_quiet(store: &dyn Store, tasks: &[String], limit: usize) -> Vec<Claim> {
    let mut claims = Vec::new();
    for _ in 0..200 {
        let ClaimBatch {
            claims: more, wait, ..
        } = claim(store, tasks, LONG, limit).await;
        let found = !more.is_empty();
        claims.extend(more);
        if !found {
            assert_ne!(wait, Some(Duration::ZERO), "nothing is taken and no wait");
            return claims;
        }
    }
    panic!("work for ever: {:?}", claims.last());
}

pub(crate) async fn one_odd_row_stops_nobody(world: &World) {
    let store = world.store().await;
    let Some(mut sql) = world.sql().await else {
        return;
    };
    allow_any_state(&mut sql).await;
    let mut renewer = renewer(&*store).await;
    for (number, odd) in rows::all(&sql).into_iter().enumerate() {
        let tasks = ["odd", "sane"].map(|name| format!("{name} {number}"));
        declare_due(&*store, &tasks).await;
        let [odd_job, sane_job] = [&tasks[0], &tasks[1]].map(|task| standing(&*store, task));
        let (odd_job, sane_job) = (odd_job.await.job, sane_job.await.job);
        set(&mut sql, odd_job, &odd).await;
        println!("{odd:?}");
        go_on(&*store, &mut *renewer, &tasks, &odd, [odd_job, sane_job]).await;
        // What was meant to be left alone is not in the next one's way.
        sql.execute(&format!("DELETE FROM tasklock_job WHERE id = {odd_job}"))
            .await;
    }
}

/// Every verb, with the odd row and a sane one.
async fn go_on(
    store: &dyn Store,
    renewer: &mut dyn Renewer,
    tasks: &[String; 2],
    odd: &Odd,
    both: [i64; 2],
) {
    let [odd_job, sane_job] = both;
    let before = row(store, odd_job).await;
    store.standing(&tasks[0]).await.unwrap();

    let claims = until_quiet(store, tasks, 1).await;
    let expected = if odd.taken { &both[..] } else { &both[1..] };
    assert_eq!(jobs(&claims), expected);
    let renewed = renewer.renew(&renewals(&claims, 2 * LONG)).await.unwrap();
    assert_eq!(
        BTreeSet::from_iter(renewed),
        BTreeSet::from_iter(jobs(&claims))
    );
    for claim in &claims {
        assert!(claim.attempt >= 1, "{claim:?}");
        let held = row(store, claim.key.job).await;
        assert!(held.is_held_under(&claim.key), "{held:?}");
        assert!(held.left > Some(LONG), "renewed: {held:?}");
        assert!(claim.key.job == sane_job || claim.key.fence > before.fence);
    }
    assert_eq!(store.inspect(&both).await.unwrap().len(), 2);
    assert_eq!(renewer.inspect(&both).await.unwrap().len(), 2);

    // Given back, and what is left of the odd row's lease with it.
    let keys: Vec<_> = claims.iter().map(|claim| claim.key.clone()).collect();
    assert_eq!(store.release(&keys).await.unwrap().len(), keys.len());
    let again = until_quiet(store, tasks, 9).await;
    assert!(
        again
            .iter()
            .all(|again| keys.iter().any(|key| key.job == again.key.job))
    );
    let sane = again
        .iter()
        .find(|claim| claim.key.job == sane_job)
        .unwrap();
    assert!(store.abandon(&sane.key.owner).await.unwrap() > 0);

    let last = until_quiet(store, tasks, 9).await;
    let ends: Vec<_> = last
        .iter()
        .chain(&again)
        .map(|claim| end(&claim.key, Next::at(i64::MAX)))
        .collect();
    let finished = store.finish(&ends).await.unwrap();
    assert!(finished.contains(&sane_job), "{finished:?}");
    assert_eq!(until_quiet(store, tasks, 9).await, []);

    let query = JobQuery {
        task: None,
        states: vec![Ready, Running, Done, Dead, Cancelled],
        before: i64::MAX,
        limit: usize::MAX,
    };
    let listed = store.jobs(&query).await.unwrap();
    assert!(listed.iter().any(|job| job.id == sane_job));
    assert_eq!(store.prune(99).await.unwrap(), 0);

    for name in tasks {
        let triggered = store.trigger(name).await.unwrap();
        if triggered == Some(Triggered::Queued) {
            let queued = standing(store, name).await;
            let now = store.now().await.unwrap();
            assert!(queued.due_at.is_some_and(|due| due <= now), "{queued:?}");
        }
        let mut changed = task(name, None);
        changed.schedule = "every 2m".to_owned();
        store.declare(from_ref(&changed)).await.unwrap();
    }
    let after = row(store, odd_job).await;
    assert!(after.fence >= before.fence, "{before:?}, then {after:?}");
    if !odd.taken {
        assert_eq!((after.fence, after.owner), (before.fence, before.owner));
    }
}

/// A former owner's end must not reach past the last fence either.
pub(crate) async fn the_last_fence_is_given_out_once(world: &World) {
    let store = world.store().await;
    let Some(mut sql) = world.sql().await else {
        return;
    };
    declare_due(&*store, &["task"]).await;
    sql.execute(&format!("UPDATE tasklock_job SET fence = {}", i64::MAX - 1))
        .await;
    let batch = claim(&*store, &["task"], LONG, 1).await;
    let last = batch.claims[0].clone();
    assert_eq!(last.key.fence, i64::MAX);
    let mut renewer = renewer(&*store).await;
    let renewed = renewer.renew(&[renewal(&last.key, LONG)]).await.unwrap();
    assert_eq!(renewed, [last.key.job]);
    let ends = [end(&last.key, Next::at(1))];
    assert_eq!(store.finish(&ends).await.unwrap(), [last.key.job]);
    let batch = claim(&*store, &["task"], LONG, 1).await;
    assert_eq!((batch.claims, batch.wait), (Vec::new(), None));
    assert_eq!(row(&*store, last.key.job).await.fence, i64::MAX);
}

/// What a later version may add without telling older ones to stop.
pub(crate) async fn a_later_versions_columns_are_no_trouble(world: &World) {
    let store = world.store().await;
    let Some(mut sql) = world.sql().await else {
        return;
    };
    // Statements that were prepared before.
    held(&*store, "before", LONG).await;
    for name in [
        "owner",
        "ttl",
        "key",
        "value",
        "head",
        "at",
        "now",
        "wait",
        "until",
        "due",
        "slot",
        "version",
        "follows",
        "outcome",
        "error",
        "running",
        "left_us",
        "if_new",
        "if_changed",
        "job_id",
        "queue",
        "most",
        "room",
        "rank",
        "nth",
        "standing",
        "to_cancel",
        "becomes",
        "counts",
        "keep",
        "hold",
        "next_run",
        "done",
        "total",
    ] {
        sql.execute(&format!(
            "ALTER TABLE tasklock_job ADD COLUMN \"{name}\" text NOT NULL DEFAULT 'x'"
        ))
        .await;
        if !matches!(sql, Sql::Sqlite(_)) && name != "job_id" {
            sql.execute(&format!(
                "ALTER TABLE tasklock_heartbeat ADD COLUMN \"{name}\" text NOT NULL DEFAULT 'x'"
            ))
            .await;
        }
    }
    sql.execute("CREATE TABLE tasklock_named (name text PRIMARY KEY)")
        .await;
    sql.execute("CREATE INDEX tasklock_job_next_run ON tasklock_job (next_run)")
        .await;
    let fresh = world.store().await;
    for (number, store) in [store, fresh].into_iter().enumerate() {
        let mut renewer = renewer(&*store).await;
        let tasks = ["one", "two"].map(|name| format!("{name} {number}"));
        declare_due(&*store, &tasks).await;
        let odd = Odd {
            set: "attempt = 0".to_owned(),
            also: None,
            taken: true,
        };
        let [one, two] = [
            standing(&*store, &tasks[0]).await,
            standing(&*store, &tasks[1]).await,
        ];
        go_on(&*store, &mut *renewer, &tasks, &odd, [one.job, two.job]).await;
    }
}
