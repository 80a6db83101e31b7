//! What has become of slots: the runs that handlers have noted, and the ends that triggers of the store's own table have.

use std::time::Duration;

use tasklock_test_support::process::Worker;
use tasklock_test_support::wait::eventually_async;
use tasklock_tests::stage::database::Rows;
use tasklock_tests::stage::{BOUND, Place, ready, worker};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_schedules_worker");
/// That of the tasks which are not by the second, in microseconds.
pub(crate) const PERIOD: i64 = 200_000;

pub(crate) const RUNS: &str =
    "CREATE TABLE run (task varchar(128) NOT NULL, fence bigint NOT NULL, slot bigint NOT NULL,
    worker bigint NOT NULL, started bigint NOT NULL)";
pub(crate) const ENDS: &str =
    "CREATE TABLE slot_end (task varchar(128), slot bigint, outcome varchar(20), fence bigint)";

const SQLITE: &[&str] = &["CREATE TRIGGER slot_end AFTER UPDATE ON tasklock_job
    WHEN old.state = 'running' AND old.slot_at IS NOT new.slot_at
    BEGIN INSERT INTO slot_end VALUES (new.task, old.slot_at, new.last_outcome, new.fence); END"];

const POSTGRES: &[&str] = &[
    "CREATE FUNCTION slot_end() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO slot_end VALUES (new.task, (extract(epoch FROM old.slot_at) * 1000000)::bigint,
            new.last_outcome, new.fence);
        RETURN NULL;
    END $$",
    "CREATE TRIGGER slot_end AFTER UPDATE ON tasklock_job FOR EACH ROW
        WHEN (old.state = 'running' AND old.slot_at IS DISTINCT FROM new.slot_at)
        EXECUTE FUNCTION slot_end()",
];

/// A run, as its handler has noted it. Instants are microseconds by the store's clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) task: String,
    pub(crate) fence: i64,
    pub(crate) slot: i64,
    pub(crate) worker: i64,
    pub(crate) started: i64,
}

/// Makes the tables, and notes what happens from now on.
pub(crate) async fn start(place: &Place) {
    place.migrate().await;
    place.run(RUNS).await;
    place.run(ENDS).await;
    let triggers = match place {
        Place::Sqlite(_) => SQLITE,
        Place::Postgres(_) => POSTGRES,
    };
    for trigger in triggers {
        place.run(trigger).await;
    }
}

/// The runs so far, in the order of their fences.
pub(crate) async fn runs(place: &Place) -> Vec<Run> {
    read(&place.run(READ).await)
}

pub(crate) const READ: &str = "SELECT fence, slot, worker, started, task FROM run ORDER BY fence";

/// The runs that `READ` has answered.
pub(crate) fn read(rows: &Rows) -> Vec<Run> {
    let number = |text: &Option<String>| -> i64 {
        let text = text.as_deref().expect("no column is null");
        text.parse().expect("a number")
    };
    rows.iter()
        .map(|row| Run {
            fence: number(&row[0]),
            slot: number(&row[1]),
            worker: number(&row[2]),
            started: number(&row[3]),
            task: row[4].clone().expect("it has a task"),
        })
        .collect()
}

pub(crate) async fn runs_of(place: &Place, task: &str) -> Vec<Run> {
    let mut runs = runs(place).await;
    runs.retain(|run| run.task == task);
    runs
}

/// The slots that have ended, in their order, each with how.
pub(crate) async fn ends(place: &Place, task: &str) -> Vec<(i64, String)> {
    let ends = format!("SELECT slot, outcome FROM slot_end WHERE task = '{task}' ORDER BY slot");
    let rows = place.run(&ends).await;
    rows.into_iter()
        .map(|row| {
            let [slot, outcome] =
                [&row[0], &row[1]].map(|text| text.clone().expect("it has ended"));
            (slot.parse().expect("a number"), outcome)
        })
        .collect()
}

/// How many slots of a task were missed, and how many skipped, as its job says.
pub(crate) async fn counted(place: &Place, task: &str) -> (i64, i64) {
    let columns = "coalesce(missed, 0), coalesce(skipped, 0)";
    let row = place
        .run(&format!(
            "SELECT {columns} FROM tasklock_job WHERE task = '{task}'"
        ))
        .await
        .remove(0);
    let [missed, skipped] = [&row[0], &row[1]].map(|text| {
        let text = text.as_deref().expect("it is no null");
        text.parse().expect("a number")
    });
    (missed, skipped)
}

/// Waits until so many runs of a task have started after this instant.
pub(crate) async fn ran(place: &Place, task: &str, after: i64, count: usize) -> Vec<Run> {
    let bound = BOUND + Duration::from_secs(120);
    eventually_async(bound, async || {
        let mut runs = runs_of(place, task).await;
        runs.retain(|run| run.started > after);
        (runs.len() >= count).then_some(runs)
    })
    .await
}

/// A figure, printed where it is seen.
pub(crate) fn print(line: &str) {
    tasklock_tests::stage::print("schedules", line);
}

/// The store's clock.
pub(crate) async fn now(place: &Place) -> i64 {
    let rows = place.run("SELECT {now}").await;
    let now = rows[0][0].as_deref().expect("it has one");
    now.parse().expect("a number")
}

/// A worker that looks for work.
pub(crate) fn up(place: &Place, tasks: &str, more: &[(&str, &str)]) -> Worker {
    let worker = worker(PROGRAM, &place.url(), tasks, more);
    ready(&worker);
    worker
}

/// Ends a worker, as a deploy does.
pub(crate) fn down(worker: Worker) {
    worker.term();
    let status = worker.wait_exit(BOUND);
    assert!(status.success(), "{status}: {}", worker.report());
}

/// Each slot of the runs is a multiple of this, and later than the one before.
pub(crate) fn assert_in_order(runs: &[Run], period: i64) {
    for run in runs {
        assert_eq!(run.slot % period, 0, "{run:?}");
    }
    for pair in runs.windows(2) {
        assert!(pair[0].slot < pair[1].slot, "{pair:?}");
    }
}
