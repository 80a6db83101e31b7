//! What stands beside the jobs that wait: runs, parked jobs, former names, and what operators ask.

use std::slice::from_ref;
use std::time::Duration;

use tasklock_runtime::OwnerToken;
use tasklock_runtime::store::{Acquire, Acquired, Declaration, JobQuery, JobState, NewJob, Then};

use super::CALLS;
use super::meter::Meter;
use crate::steps::{LONG, claim, enqueue, finish, new, task, then};

const HOUR: Duration = Duration::from_secs(3600);

/// Runs of one task, of which a few have been renewed since their own rows expired; parked jobs and delayed ones that need one
/// name; and the only jobs of a task, behind which all others are newer.
const FILL: [&str; 5] = [
    "SET @now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))",
    "INSERT INTO tasklock_job (task, state, due_at, lock_owner, lock_until, fence)
     SELECT 'runs', 'running', @now, 'somebody', @now + IF(seq > 5, 3600000000, -1) + seq, 1 FROM seq_1_to_5000",
    "INSERT INTO tasklock_heartbeat (job_id, fence, lock_until)
     SELECT id, 1, @now + 7200000000 FROM tasklock_job WHERE state = 'running' AND lock_until < @now + 1000",
    "INSERT INTO tasklock_job (task, resource, due_at, parked_due, parked_rank)
     SELECT 'needs', 'name', IF(seq % 2 = 0, @now + 3600000000 + seq, NULL), IF(seq % 2 = 0, NULL, @now + seq),
         IF(seq % 2 = 0, NULL, @now + seq) FROM seq_1_to_40000",
    "UPDATE tasklock_job SET task = 'rare' WHERE state = 'done' ORDER BY id LIMIT 3",
];

fn busy() -> Acquire {
    Acquire {
        name: "name".to_owned(),
        owner: OwnerToken::fresh(),
        worker: "a worker".to_owned(),
        ttl: HOUR,
        ticket: None,
    }
}

pub(super) async fn reads_no_more(meter: &mut Meter<'_>, analyzed: bool) {
    if !analyzed {
        for statement in FILL {
            meter.sql.execute(statement).await;
        }
    }
    let runs = "looks beside runs";
    meter
        .reads_at_most(runs, 40 * CALLS, async |store| {
            for _ in 0..CALLS {
                let batch = claim(store, &["runs", "other"], LONG, 16).await;
                assert!(batch.claims.is_empty());
            }
        })
        .await;
    let of_a_run = "UPDATE tasklock_job SET lock_until = 1 WHERE running_of = 'runs' AND lock_until > 1 ORDER BY id DESC LIMIT 1";
    meter.sql.execute(of_a_run).await;
    let taken = "a takeover beside runs";
    meter
        .reads_at_most(taken, 100, async |store| {
            let batch = claim(store, &["runs", "other"], LONG, 16).await;
            assert_eq!(batch.claims.len(), 1);
            finish(store, then(&batch.claims[0].key, Then::Done(None))).await;
        })
        .await;
    let names = "a name that many wait for";
    meter
        .reads_at_most(names, 500 * CALLS, async |store| {
            let acquired = store.acquire(&[busy()]).await.unwrap().remove(0);
            let Acquired::Granted(key) = acquired else {
                panic!("{acquired:?}");
            };
            for _ in 0..CALLS {
                let job = NewJob {
                    resource: Some("name".to_owned()),
                    ..new("needs")
                };
                enqueue(store, job).await;
                let batch = claim(store, &["needs"], LONG, 16).await;
                assert!(batch.claims.is_empty());
            }
            assert_eq!(store.release(from_ref(&key)).await.unwrap().len(), 1);
            let batch = claim(store, &["needs"], LONG, 16).await;
            assert_eq!(batch.claims.len(), 1);
            let mut end = then(&batch.claims[0].key, Then::Done(None));
            end.resource = batch.claims[0]
                .resource
                .as_ref()
                .map(|name| name.key.clone());
            // The job and the name.
            assert_eq!(store.finish(&[end]).await.unwrap().len(), 2);
        })
        .await;
    let former = Declaration {
        aliases: vec!["ended".to_owned()],
        ..task("newer", None)
    };
    let tended = "former names";
    meter
        .reads_at_most(tended, 20 * CALLS, async |store| {
            for _ in 0..CALLS {
                store.tend(from_ref(&former)).await.unwrap();
            }
        })
        .await;
    let query = JobQuery {
        task: Some("rare".to_owned()),
        states: vec![JobState::Done],
        before: i64::MAX,
        limit: 50,
    };
    let listed = "the jobs of one task";
    meter
        .reads_at_most(listed, 10 * CALLS, async |store| {
            for _ in 0..CALLS {
                assert_eq!(store.jobs(&query).await.unwrap().len(), 3);
            }
        })
        .await;
}
