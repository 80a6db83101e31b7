//! A task that was renamed takes its former self's rows over, while old replicas are still there.

use tasklock_runtime::store::{Due, NewJob};
use tasklock_test_support::wait::eventually_async;
use tasklock_tests::stage::{BOUND, Place, ready, worker};

use crate::log::{self, PERIOD};

const NEWER: &str = env!("CARGO_BIN_EXE_schedules_worker_newer");

on_both! { beside: a_renamed_task_goes_on_where_it_was }

async fn a_renamed_task_goes_on_where_it_was(place: Place) {
    log::start(&place).await;
    let old = log::up(&place, "import", &[]);
    log::ran(&place, "import", 0, 3).await;
    let store = place.store().await;
    let later = log::now(&place).await + 3_600_000_000;
    let job = NewJob {
        task: "import".to_owned(),
        payload: None,
        due: Due::At(later),
        priority: 0,
        unique_key: None,
        resource: None,
    };
    let waiting = store.enqueue(&[job]).await.expect("it is taken")[0].id();
    let new = worker(NEWER, &place.url(), "import.rates", &[]);
    ready(&new);
    let renamed = log::now(&place).await;
    let runs = log::ran(&place, "import.rates", renamed, 5).await;
    assert!(runs.iter().all(|run| run.worker == i64::from(new.pid())));

    assert_eq!(store.standing("import").await.expect("it answers"), None);
    eventually_async(BOUND, async || {
        let job = store.job(waiting).await.expect("it answers")?;
        (job.task == "import.rates").then_some(())
    })
    .await;
    store.close().await;
    log::down(old);
    // An old replica that is started once more has nothing to do.
    let old = log::up(&place, "import", &[]);
    let now = log::now(&place).await;
    log::ran(&place, "import.rates", now, 3).await;
    log::down(old);
    log::down(new);
    assert_one_after_the_other(&place, &["import", "import.rates"]).await;

    // Somebody goes back to the old version, some minutes after the last replica of the new one has gone.
    let long_ago = if matches!(place, Place::Sqlite(_)) {
        "1"
    } else {
        "'1970-01-01'"
    };
    place
        .run(&format!(
            "UPDATE tasklock_alias SET served_until = {long_ago}"
        ))
        .await;
    let old = log::up(&place, "import", &[]);
    let now = log::now(&place).await;
    log::ran(&place, "import", now, 3).await;
    log::down(old);
    assert_one_after_the_other(&place, &["import", "import.rates", "import"]).await;
}

/// Each slot once, in their order, under one name after the other.
async fn assert_one_after_the_other(place: &Place, names: &[&str]) {
    let runs = log::runs(place).await;
    log::assert_in_order(&runs, PERIOD);
    let mut found: Vec<&str> = runs.iter().map(|run| &*run.task).collect();
    found.dedup();
    assert_eq!(found, names);
}
