//! What a second lease costs, where nobody else wants the names.

use std::time::Duration;

use crate::support::{Place, all_done, client, count, print, ready, worker};

const JOBS: i64 = 200;
const ROUNDS: i64 = 5;
/// A second lease is another row to take and to give back; that must not cost more than this many times the job
/// without it.
const LEAST: f64 = 0.25;

/// The same where a job takes 20 ms.
const LEAST_WITH_WORK: f64 = 0.5;

on_both! {
    alone: distinct_names_do_not_hold_each_other_up,
    alone: distinct_names_do_not_hold_up_jobs_that_work,
}

/// Jobs that do nothing: the second lease's rows, and nothing else.
async fn distinct_names_do_not_hold_each_other_up(place: Place) {
    compare(place, ["plain", "apart"], LEAST).await;
}

async fn distinct_names_do_not_hold_up_jobs_that_work(place: Place) {
    compare(place, ["works", "works_apart"], LEAST_WITH_WORK).await;
}

async fn compare(place: Place, tasks: [&'static str; 2], least_ratio: f64) {
    let client = client(&place).await;
    let more = [("TASKLOCK_CONCURRENCY", "8")];
    let fleet = [(); 2].map(|()| worker(&place, &tasks.join(","), &more));
    fleet.iter().for_each(ready);
    let mut ratios = Vec::new();
    for round in 0..ROUNDS {
        let numbers = round * JOBS..(round + 1) * JOBS;
        let mut rates = [0.0; 2];
        // Each comes first half of the time.
        for turn in 0..2 {
            let which = usize::try_from((round + turn) % 2).expect("it fits");
            let task = tasks[which];
            let mut jobs = client.enqueue_many(task, numbers.clone());
            if which == 1 {
                jobs = jobs.resources(numbers.clone().map(|number| format!("item:{number}")));
            }
            let jobs = jobs.await.expect("the database takes them");
            all_done(&place, task).await;
            let first = jobs.iter().map(|job| job.id()).min().expect("some");
            rates[which] = JOBS as f64 / took(&place, task, first).await.as_secs_f64();
        }
        ratios.push((rates[1] / rates[0], rates[0], rates[1]));
    }
    ratios.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (ratio, without, with) = ratios[ratios.len() / 2];
    let (least, most) = (ratios[0].0, ratios[ratios.len() - 1].0);
    print(
        &place,
        &format!(
            "{JOBS} jobs of {JOBS} names against {JOBS} without ({}), {ROUNDS} rounds: {ratio:.2} times as many a second \
             (median; {least:.2}–{most:.2}; in that round {with:.0} and {without:.0} jobs/s)",
            tasks[0]
        ),
    );
    assert!(ratio >= least_ratio, "{ratios:?}");
}

/// From the first claim to the last end of the jobs from this one on, by the store's clock.
async fn took(place: &Place, task: &str, first: i64) -> Duration {
    let span = match place {
        Place::Sqlite(_) => "max(finished_at) - min(claimed_at)",
        Place::Postgres(_) => {
            "(extract(epoch FROM max(finished_at) - min(claimed_at)) * 1000000)::bigint"
        }
    };
    let span = format!("SELECT {span} FROM tasklock_job WHERE task = '{task}' AND id >= {first}");
    Duration::from_micros(count(place, &span).await.cast_unsigned())
}
