//! Whoever loses one of its two leases has lost both, and writes nothing.

use tasklock_test_support::process::Event;

use crate::support::{
    BOUND, Notes, Place, all_done, client, number, print, ready, start_of, worker,
};

/// The named lease's row, and the job's.
const ROWS: [&str; 2] = ["tasklock.lease", "{task}"];
const THEFT: &str = "UPDATE tasklock_job SET lock_owner = 'a thief', fence = fence + 1
    WHERE state = 'running' AND task = ";

on_both! {
    beside: a_stolen_lease_ends_the_run,
    beside: the_guard_looks_at_both,
}

/// As the heartbeat finds it.
async fn a_stolen_lease_ends_the_run(place: Place) {
    let client = client(&place).await;
    Notes::install(&place).await;
    let worker = worker(&place, "loses", &[]);
    ready(&worker);
    for row in ROWS {
        let job = client.enqueue("loses", &7).resource("invoice:7").await;
        job.expect("it is taken");
        let first = start_of(&worker);
        place.run(&stolen(row, "loses")).await;
        let lost = worker.wait_for(BOUND, |event| event.is("lost"));
        assert_eq!(lost.str("lost"), Some("taken_over"), "{}", lost.line);
        refused(&worker.wait_for(BOUND, |event| event.is("refused")));
        assert_eq!(Notes::read(&place).await, [], "{row}");
        // Neither is renewed: another run takes both.
        let next = start_of(&worker);
        assert_eq!(number(&next, "attempt"), 2);
        assert!(number(&next, "fence") > number(&first, "fence"));
        assert!(number(&next, "resource_fence") > number(&first, "resource_fence"));
        all_done(&place, "loses").await;
        let notes = Notes::read(&place).await;
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert_eq!(notes[0].fence, number(&next, "resource_fence"));
        place.run("DELETE FROM note").await;
    }
    print(
        &place,
        "the row of a run's resource, or of its job, stolen: the run was lost as taken over, and wrote nothing",
    );
}

/// Before any heartbeat.
async fn the_guard_looks_at_both(place: Place) {
    let client = client(&place).await;
    Notes::install(&place).await;
    place.run("CREATE TABLE cue (cue bigint)").await;
    let worker = worker(&place, "on_cue", &[]);
    for row in ROWS {
        let job = client.enqueue("on_cue", &7).resource("invoice:7").await;
        let job = job.expect("it is taken").id();
        start_of(&worker);
        place.run(&stolen(row, "on_cue")).await;
        place.run("INSERT INTO cue VALUES (1)").await;
        refused(&worker.wait_for(BOUND, |event| event.is("refused")));
        assert_eq!(Notes::read(&place).await, [], "{row}");
        place.run("DELETE FROM cue").await;
        // Nobody waits for minutes here.
        place
            .run(&format!(
                "DELETE FROM tasklock_job WHERE id = {job} OR task = 'tasklock.lease'"
            ))
            .await;
    }
}

fn stolen(row: &str, task: &str) -> String {
    format!("{THEFT} '{}'", row.replace("{task}", task))
}

#[track_caller]
fn refused(event: &Event) {
    assert_eq!(event.str("lost"), Some("taken_over"), "{}", event.line);
}
