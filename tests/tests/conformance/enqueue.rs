//! What is enqueued.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use tasklock_runtime::JobState;
use tasklock_runtime::store::{Due, Enqueued, JobQuery, NewJob};

use crate::steps::{
    BOUND, LONG, SECOND, assert_about, claim, claim_one, enqueue, enqueue_due, job, new, sorted,
    with_key,
};
use crate::world::World;

pub(crate) async fn what_was_enqueued_is_read_back(world: &World) {
    let store = world.store().await;
    let before = store.now().await.unwrap();
    let full = NewJob {
        resource: Some("a thing".into()),
        task: "task".to_owned(),
        payload: Some("{\"a\":[1,null]}".to_owned()),
        due: Due::At(77),
        priority: -32_768,
        unique_key: Some("key".to_owned()),
    };
    let id = match enqueue(&*store, full).await {
        Enqueued::New(id) => id,
        other => panic!("{other:?}"),
    };
    // By another process.
    let other = world.store().await;
    let found = job(&*other, id).await;
    assert_eq!((found.id, &*found.task), (id, "task"));
    assert_eq!(found.state, JobState::Ready);
    assert_eq!(found.payload.as_deref(), Some("{\"a\":[1,null]}"));
    assert_eq!(found.priority, -32_768);
    assert_eq!(found.unique_key.as_deref(), Some("key"));
    assert_eq!(found.resource.as_deref(), Some("a thing"));
    assert!(!found.is_standing);
    assert_eq!(found.due_at, Some(Timestamp::from_microsecond(77).unwrap()));
    assert_eq!((found.attempt, found.crashes, found.refusals), (0, 0, 0));
    assert_eq!(found.fence, 0);
    assert_eq!((found.worker, found.lock_until), (None, None));
    let instants = (found.claimed_at, found.finished_at, found.cancelled_at);
    assert_eq!(instants, (None, None, None));
    assert_eq!((found.last_outcome, found.last_error), (None, None));
    let created_at = found.created_at.unwrap().as_microsecond();
    let after = store.now().await.unwrap();
    assert!((before..=after).contains(&created_at), "{created_at}");

    let claim = claim_one(&*other, "task", LONG).await;
    assert_eq!(claim.key.job, id);
    assert_eq!(claim.payload.as_deref(), Some("{\"a\":[1,null]}"));
    assert_eq!((claim.due_at, claim.attempt), (77, 1));
    assert!(!claim.standing && !claim.to_cancel && !claim.takeover);
    assert_eq!((claim.crashes, claim.refusals), (0, 0));
    let running = job(&*store, id).await;
    assert_eq!(running.state, JobState::Running);
    assert_eq!(running.worker.as_deref(), Some("a worker"));
    assert!(running.lock_until > running.claimed_at);
    assert!(running.claimed_at.unwrap().as_microsecond() >= created_at);
}

pub(crate) async fn nothing_is_enqueued_by_an_empty_call(world: &World) {
    let store = world.store().await;
    assert_eq!(store.enqueue(&[]).await.unwrap(), []);
    assert!(store.job(1).await.unwrap().is_none());
}

pub(crate) async fn it_falls_due_when_it_was_told(world: &World) {
    let store = world.store().await;
    let now = store.now().await.unwrap();
    let due = [
        Due::At(Timestamp::MIN.as_microsecond()),
        Due::At(-1),
        Due::At(0),
        Due::At(now),
        Due::In(Duration::ZERO),
    ];
    let later = [
        Due::At(now + 600 * SECOND),
        Due::In(LONG),
        Due::At(Timestamp::MAX.as_microsecond()),
        Due::In(Duration::MAX),
    ];
    let jobs: Vec<_> = (due.iter().chain(&later))
        .map(|due| NewJob {
            due: *due,
            ..new("task")
        })
        .collect();
    let ids: Vec<_> = store.enqueue(&jobs).await.unwrap();
    let ids: Vec<_> = ids.into_iter().map(Enqueued::id).collect();
    let batch = claim(&*store, &["task"], 9 * LONG, 99).await;
    let taken = batch.claims.iter().map(|claim| claim.key.job).collect();
    assert_eq!(sorted(taken), ids[..due.len()]);
    assert_about(batch.wait, LONG);

    let mut instants = Vec::new();
    for id in &ids {
        instants.push(job(&*store, *id).await.due_at.unwrap());
    }
    let year = |nth: usize| instants[nth].to_string();
    assert!(*year(0) < *"0002", "{}", year(0));
    assert_eq!(instants[1].as_microsecond(), -1);
    assert_eq!(instants[3].as_microsecond(), now);
    let in_a_minute = instants[6].as_microsecond() - now;
    assert_about(
        Some(LONG),
        Duration::from_micros(in_a_minute.unsigned_abs()),
    );
    for nth in [7, 8] {
        assert!(year(nth).starts_with("9999-"), "{}", year(nth));
    }
}

/// Names and keys that a database might fold, cut or take for something else.
const NAMES: &[&str] = &[
    "'; DROP TABLE tasklock_job; --",
    "\"[?1, $1, {p}, %s]\\",
    "é e\u{301} ß ẞ İ ı",
    "👩‍👧‍👦 \u{202e}\u{feff}\u{ffff}\u{10ffff}",
    "null",
    "1e3",
    "NULL",
    " ",
];

pub(crate) async fn any_text_is_kept(world: &World) {
    let store = world.store().await;
    let large = format!("\"{}\"", "é".repeat(1 << 19));
    let payloads = [
        Some("\"\\u0000 \\\\u0000 \\ud83d\\ude00\""),
        Some("\"'; -- \u{301}\u{202e}👩‍👧 \u{ffff}\""),
        Some("1e400"),
        Some("null"),
        Some(""),
        Some("  [ 1 ]\r\n"),
        None,
        Some(&*large),
    ];
    let jobs: Vec<_> = (NAMES.iter().zip(payloads))
        .map(|(name, payload)| NewJob {
            payload: payload.map(str::to_owned),
            ..with_key(name, *name)
        })
        .collect();
    let enqueued = store.enqueue(&jobs).await.unwrap();
    let again = store.enqueue(&jobs).await.unwrap();
    for ((job, enqueued), again) in jobs.iter().zip(enqueued).zip(again) {
        assert!(enqueued.is_new(), "{job:?}");
        assert_eq!(again, Enqueued::Existing(enqueued.id()));
        let found = self::job(&*store, enqueued.id()).await;
        assert_eq!(found.task, job.task);
        assert_eq!(found.unique_key, job.unique_key);
        assert_eq!(found.payload, job.payload);
        let claim = claim_one(&*store, &job.task, LONG).await;
        assert_eq!(claim.key.job, enqueued.id());
        assert_eq!(claim.payload.as_deref(), job.payload.as_deref());
    }
}

/// So many that they do not fit in one statement.
fn many(count: usize, bytes: usize) -> Vec<NewJob> {
    let payload = |nth| format!("\"{nth} {}\"", "x".repeat(bytes));
    let jobs = (0..count).map(|nth| NewJob {
        payload: Some(payload(nth)),
        ..new("task")
    });
    jobs.collect()
}

pub(crate) async fn ids_are_in_the_order_of_the_call(world: &World) {
    let store = world.store().await;
    let mut jobs = many(2_500, 3_000);
    for (nth, job) in jobs.iter_mut().enumerate() {
        job.unique_key = (nth % 100 == 50).then(|| format!("{nth}"));
    }
    let enqueued = store.enqueue(&jobs).await.unwrap();
    assert_eq!(enqueued.len(), jobs.len());
    let query = JobQuery {
        task: Some("task".to_owned()),
        states: vec![JobState::Ready],
        before: i64::MAX,
        limit: usize::MAX,
    };
    let mut found = store.jobs(&query).await.unwrap();
    found.reverse();
    assert_eq!(found.len(), jobs.len());
    let mut last = 0;
    for (job, enqueued) in jobs.iter().zip(enqueued) {
        let nth = found.binary_search_by_key(&enqueued.id(), |job| job.id);
        let found = &found[nth.unwrap()];
        assert_eq!(found.payload, job.payload, "each was told its own id");
        assert_eq!(found.unique_key, job.unique_key);
        if job.unique_key.is_none() {
            assert!(enqueued.id() > last);
            last = enqueued.id();
        }
    }
}

pub(crate) async fn all_of_a_call_or_none(world: &World) {
    let store = world.store().await;
    if world.sql().await.is_none() {
        // In memory nothing can fail half-way. On Redis a call of more than a thousand jobs is written in parts, each of
        // them whole, and no job is refused: one script for all would hold up everybody's heartbeats.
        return;
    }
    let mut jobs = many(2_500, 2_000);
    for nth in [2_499, 1_300] {
        jobs[nth].task = "x".repeat(129);
        jobs[1].unique_key = Some("key".to_owned());
        store.enqueue(&jobs).await.unwrap_err();
        jobs[nth] = with_key("task", "last");
        assert_eq!(claim(&*store, &["task"], LONG, 9).await.claims, []);
    }
    let enqueued = store.enqueue(&jobs).await.unwrap();
    // The same key twice: one row less than jobs.
    assert_eq!(enqueued.iter().filter(|job| job.is_new()).count(), 2_499);
    let mut sql = world.sql().await.unwrap();
    let count = "SELECT count(*) FROM tasklock_job";
    assert_eq!(sql.number(count).await, 2_499);
}

pub(crate) async fn a_hundred_thousand_by_one_call(world: &World) {
    let store = world.store().await;
    let (mut sql, mut keys) = (world.sql().await, world.keys().await);
    if sql.is_none() && keys.is_none() || world.ahead != 0 {
        return;
    }
    let jobs = many(100_000, 50);
    let began = Instant::now();
    let enqueued = store.enqueue(&jobs).await.unwrap();
    let took = began.elapsed();
    println!("{}: 100,000 jobs in {took:?}", store.name());
    assert!(took < 2 * BOUND, "{took:?}");
    assert!(enqueued.is_sorted_by_key(|enqueued| enqueued.id()));
    if let Some(sql) = &mut sql {
        let count = "SELECT count(DISTINCT payload) FROM tasklock_job";
        assert_eq!(sql.number(count).await, 100_000);
    }
    if let Some(keys) = &mut keys {
        assert_eq!(keys.ask::<i64>("ZCARD", "all", &[]).await, 100_000);
    }
    enqueue_due(&*store, "task", 1).await;
    assert_eq!(claim_one(&*store, "task", LONG).await.due_at, 1);
}
