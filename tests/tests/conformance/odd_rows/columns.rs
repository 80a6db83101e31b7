//! What is edited while a run holds the row, and what cannot be written at all.

use std::slice::from_ref;
use std::time::Duration;

use tasklock_runtime::store::{Counts, Finish, Then};
use tasklock_runtime::{LeaseKey, Next, Pausable};

use crate::steps::{
    LONG, claim_all, declare_due, end, enqueue_due, job, jobs, sorted, standing, then,
};
use crate::world::{Sql, World};

/// Somebody edits a row while it is held: it ends with the others.
pub(crate) async fn a_held_row_may_be_edited(world: &World) {
    let store = world.store().await;
    let Some(mut sql) = world.sql().await else {
        return;
    };
    let tasks = ["edited", "sane"].map(str::to_owned);
    declare_due(&*store, &tasks).await;
    let claimed_at: &[&str] = match sql {
        Sql::Sqlite(_) => &["9e999", "-9e999", "'soon'", "x'ff'", "9223372036854775807"],
        Sql::MySql(_) => &["9223372036854775807", "-9223372036854775808"],
        Sql::Postgres(_) => &[
            "'infinity'",
            "'-infinity'",
            "'294276-12-31'",
            "'4713-01-01 BC'",
        ],
    };
    let mut edits = vec![
        "attempt = -2147483648, crashes = -2147483648, refusals = -2147483648".to_owned(),
        "attempt = 2147483647, crashes = 2147483647, refusals = 2147483647".to_owned(),
        "claimed_at = NULL, lock_worker = NULL, schedule = NULL".to_owned(),
    ];
    edits.extend(claimed_at.iter().map(|at| format!("claimed_at = {at}")));
    for edit in edits {
        let again = |key: &LeaseKey| {
            let held = |hold| Finish {
                hold: Some(hold),
                ..then(key, Then::Again(Duration::ZERO, Counts::Refusal))
            };
            [
                held(Duration::ZERO),
                held(Duration::from_nanos(1)),
                end(key, Next::at(1)),
            ]
        };
        for nth in 0..4 {
            let claims = claim_all(&*store, &tasks, LONG).await;
            let job = standing(&*store, &tasks[0]).await.job;
            sql.execute(&format!("UPDATE tasklock_job SET {edit} WHERE id = {job}"))
                .await;
            let keys: Vec<_> = claims.iter().map(|claim| claim.key.clone()).collect();
            let ended = if nth == 3 {
                store.release(&keys).await
            } else {
                let ends: Vec<_> = keys.iter().map(|key| again(key)[nth].clone()).collect();
                store.finish(&ends).await
            };
            assert_eq!(sorted(ended.unwrap()), jobs(&claims), "{edit}");
            // To keep it from running into the next round.
            sql.execute("UPDATE tasklock_job SET attempt = 0").await;
        }
    }
    // A hold that is counted from an odd start ends all the same, and begins by now at the latest.
    for (nth, at) in (0..).zip(claimed_at) {
        let task = format!("holds {nth}");
        let id = enqueue_due(&*store, &task, 1).await[0];
        let claims = claim_all(&*store, &[&task], LONG).await;
        let set = format!("UPDATE tasklock_job SET claimed_at = {at} WHERE id = {id}");
        sql.execute(&set).await;
        let held = Finish {
            hold: Some(2 * LONG),
            ..then(&claims[0].key, Then::Again(Duration::ZERO, Counts::Attempt))
        };
        assert_eq!(store.finish(&[held]).await.unwrap(), [id], "{at}");
        let due = job(&*store, id).await.due_at.unwrap().as_microsecond();
        let wait = due - store.now().await.unwrap();
        assert!(wait <= 120_000_000, "{at}: {wait}");
    }
}

pub(crate) async fn an_unknown_pause_pauses_nothing(world: &World) {
    let store = world.store().await;
    let Some(mut sql) = world.sql().await else {
        return;
    };
    let constraint = "ALTER TABLE tasklock_pause DROP CONSTRAINT tasklock_pause_kind_check";
    let (allow, now) = match sql {
        Sql::Sqlite(_) => ("PRAGMA ignore_check_constraints = ON", "0"),
        Sql::MySql(_) => (
            "ALTER TABLE tasklock_pause DROP CONSTRAINT tasklock_pause_kind",
            "0",
        ),
        Sql::Postgres(_) => (constraint, "now()"),
    };
    sql.execute(allow).await;
    for kind in ["worker", "", "TASK"] {
        sql.execute(&format!(
            "INSERT INTO tasklock_pause (kind, name, paused_at) VALUES ('{kind}', 'task', {now})"
        ))
        .await;
    }
    enqueue_due(&*store, "task", 1).await;
    claim_all(&*store, &["task"], LONG).await;
    assert_eq!(store.paused().await.unwrap(), []);
    let task = Pausable::Task("task".to_owned());
    assert!(store.pause(&task, true).await.unwrap());
    assert_eq!(store.paused().await.unwrap(), from_ref(&task));
    assert!(store.pause(&task, false).await.unwrap());
}

/// What would stop every claim, the tables do not take from anybody.
pub(crate) async fn what_the_tables_refuse(world: &World) {
    let store = world.store().await;
    let Some(mut sql) = world.sql().await else {
        return;
    };
    let id = enqueue_due(&*store, "task", 1).await[0];
    let mut sets = vec![
        "priority = NULL",
        "priority = 32768",
        "priority = -32769",
        "state = 'paused'",
        "state = NULL",
        "task = ''",
    ];
    if matches!(sql, Sql::Sqlite(_)) {
        sets.extend([
            "priority = 'high'",
            "priority = 1.5",
            "priority = x'01'",
            "hold_until = 'soon'",
            "hold_until = 1.5",
            "prune_at = x'ff'",
            "prune_at = 9e999",
        ]);
    }
    let before = job(&*store, id).await;
    for set in sets {
        let update = format!("UPDATE tasklock_job SET {set} WHERE id = {id}");
        assert!(!sql.try_execute(&update).await, "{set}");
    }
    assert_eq!(job(&*store, id).await, before);
}
