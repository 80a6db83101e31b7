//! Ten thousand jobs whose effects are guarded, while workers are killed one after the other: nothing is
//! lost, nothing is done twice, and what is counted adds up.

use std::time::Duration;

use tasklock_test_support::process::{Worker, boottime};

use crate::support::{Audit, Place, client, count, over_within, print, worker};

const JOBS: i64 = 10_000;
const EACH: Duration = Duration::from_secs(1);
const TTL: Duration = Duration::from_secs(3);
/// More than a look, a pause of the workers and a busy machine take together.
const SOON: Duration = Duration::from_secs(3);
/// A machine that is busy with other things takes longer.
const MOST_KILLS: usize = 150;

on_both! { alone: each_job_has_one_effect_whoever_is_killed }

async fn each_job_has_one_effect_whoever_is_killed(place: Place) {
    let client = client(&place).await;
    Audit::install(&place).await;
    place
        .run("CREATE TABLE effect (job bigint NOT NULL, number bigint NOT NULL, fence bigint NOT NULL)")
        .await;
    let enqueued = client.enqueue_many("settle", 0..JOBS).await;
    assert_eq!(enqueued.map(|jobs| jobs.len()).ok(), Some(10_000));

    let from = boottime();
    let mut fleet: Vec<Worker> = (0..3).map(|name| start(&place, name)).collect();
    let mut kills = 0;
    while !over_within(&place, "settle", EACH).await {
        assert!(kills < MOST_KILLS, "it does not end");
        let next = kills % fleet.len();
        fleet[next].kill();
        kills += 1;
        fleet[next] = start(&place, kills + 2);
    }
    let took = boottime() - from;

    // A job that waits for a slot for too long goes back: a claim, and no attempt.
    let wrong = "SELECT id, state, attempt, crashes, fence, last_error FROM tasklock_job WHERE NOT
        (state = 'done' AND fence >= attempt AND crashes = attempt - 1) LIMIT 5";
    let wrong = place.run(wrong).await;
    assert!(wrong.is_empty(), "{wrong:?}");
    let number = async |statement| count(&place, statement).await;
    assert_eq!(number("SELECT count(*) FROM tasklock_job").await, JOBS);
    // One for each job, under its last fence.
    assert_eq!(number("SELECT count(*) FROM effect").await, JOBS);
    let of_last = "SELECT count(DISTINCT job) FROM effect JOIN tasklock_job j
        ON j.id = effect.job AND j.fence = effect.fence AND j.payload = CAST(number AS text)";
    assert_eq!(number(of_last).await, JOBS);

    let fences = number("SELECT sum(fence) FROM tasklock_job").await;
    let crashes = number("SELECT sum(crashes) FROM tasklock_job").await;
    let claims = "SELECT count(*) FROM audit WHERE what IN ('claim', 'takeover')";
    assert_eq!(fences, number(claims).await);
    let attempts = number("SELECT sum(attempt) FROM tasklock_job").await;
    let back = "SELECT count(*) FROM audit WHERE what = 'end' AND state = 'ready'";
    assert_eq!(fences - attempts, number(back).await);
    let takeovers = "SELECT count(*) FROM audit WHERE what = 'takeover'";
    assert_eq!(crashes, number(takeovers).await);
    let ends = "SELECT count(*) FROM audit WHERE what = 'end' AND state = 'done'";
    assert_eq!(number(ends).await, JOBS);
    // Those that come due all the while are in nobody's way.
    let waited = "SELECT max(t.claimed - c.claimed) FROM audit t JOIN audit c
        ON c.job = t.job AND c.fence = t.fence - 1 AND c.what IN ('claim', 'takeover')
        WHERE t.what = 'takeover'";
    let waited = number(waited).await;
    let waited = Duration::from_micros(waited.cast_unsigned());
    assert!(
        waited < TTL + SOON,
        "taken over {waited:?} after the claim of the run before"
    );
    let bit = number("SELECT count(DISTINCT worker) FROM audit WHERE what = 'takeover'").await;
    assert!(bit >= 5, "{bit} kills bit of {kills}");
    print(&format!(
        "{}: {JOBS} jobs in {took:.1?}: {:.0} jobs/s by 3 workers of 8 slots; {kills} kills, {bit} bit, \
         {crashes} crashes, each taken over within {waited:.1?} of its claim (ttl {TTL:?}); {JOBS} effects",
        place.kind(),
        JOBS as f64 / took.as_secs_f64()
    ));
}

fn start(place: &Place, name: usize) -> Worker {
    let name = format!("worker {name}");
    let more = [
        ("TASKLOCK_CONCURRENCY", "8"),
        ("TASKLOCK_WORKER_NAME", &*name),
    ];
    worker(place, "settle", &more)
}
