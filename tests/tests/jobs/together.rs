//! Jobs that many callers of one process enqueue at once.

use std::collections::BTreeSet;

use tasklock_test_support::stats::Statements;

use crate::support::{Place, client, count, print};

const CALLERS: i64 = 16;
const EACH: i64 = 50;

on_both! {
    alone: callers_at_once_share_statements,
    beside: a_caller_that_goes_holds_nobody_up,
}

async fn callers_at_once_share_statements(place: Place) {
    let client = client(&place).await;
    let mut statements = match &place {
        Place::Postgres(database) => Some(Statements::from_now(database).await),
        Place::Sqlite(_) => None,
    };
    let callers = (0..CALLERS).map(|caller| {
        let client = client.clone();
        tokio::spawn(async move {
            let mut ids = Vec::new();
            for nth in 0..EACH {
                let number = caller * EACH + nth;
                let job = client.enqueue("note", &number).await;
                ids.push((job.expect("the database takes it").id(), number));
            }
            ids
        })
    });
    let mut ids = BTreeSet::new();
    for caller in callers.collect::<Vec<_>>() {
        ids.extend(caller.await.expect("a caller does not fail"));
    }
    let jobs = CALLERS * EACH;
    assert_eq!(ids.len(), usize::try_from(jobs).expect("it fits"));
    // Each was told of its own.
    for (id, number) in ids.iter().step_by(37) {
        let job = client.job(*id).await.expect("the database answers");
        let payload = job.expect("it is there").payload;
        assert_eq!(payload, Some(number.to_string()));
    }
    if let Some(statements) = &mut statements {
        let calls = statements.calls("INSERT INTO tasklock_job").await;
        assert!(calls <= jobs / 4, "{calls} statements for {jobs} jobs");
        print(&format!(
            "postgres: {CALLERS} callers at once enqueue {jobs} jobs one by one in {calls} statements"
        ));
    }
}

/// The one whose call is under way, or one whose job is gathered: whoever else waits is served.
async fn a_caller_that_goes_holds_nobody_up(place: Place) {
    let client = client(&place).await;
    for round in 0..50_i64 {
        let mut calls: Vec<_> = (0..4_i64)
            .map(|nth| {
                let client = client.clone();
                tokio::spawn(async move { client.enqueue("note", &(round * 4 + nth)).await })
            })
            .collect();
        // At different points of the call that is under way.
        for _ in 0..round % 8 {
            tokio::task::yield_now().await;
        }
        calls[0].abort();
        calls[2].abort();
        for kept in [3, 1] {
            let job = calls.remove(kept).await.expect("it is not aborted");
            job.expect("the database takes it");
        }
    }
    let jobs = "SELECT count(*) FROM tasklock_job WHERE task = 'note'";
    let jobs = count(&place, jobs).await;
    assert!((100..=200).contains(&jobs), "{jobs}");
}
