//! Enqueueing in the application's own transaction.

mod beside;

use std::pin::Pin;
use std::sync::Arc;

use sqlx::Connection;
use tasklock_runtime::store::{Anchor, Enqueued, Inserting, NewJob, Wake};
use tasklock_runtime::{Error, StoreErrorKind};

use crate::guard::begins;
use crate::steps::{LONG, at_once, claim, claim_one, enqueue, job, new, started, watch, with_key};
use crate::world::{Sql, World};

pub(crate) use beside::{
    a_key_whose_job_has_ended_is_free, others_work_on_beside_a_transaction_with_keys,
};

/// What happens in the transaction after the jobs were enqueued, or before.
type Meanwhile<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// How a transaction ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    Committed,
    RolledBack,
    /// Committed, and before it enqueued it has not looked at anything.
    CommittedBlind,
}
use Ends::{Committed, CommittedBlind, RolledBack};

fn nothing<'a>() -> Meanwhile<'a> {
    Box::pin(async {})
}

impl Sql {
    /// Enqueues in a transaction, after `before`; ends it after `meanwhile`.
    async fn within(
        &mut self,
        begin: &'static str,
        insertion: &Anchor,
        jobs: &[NewJob],
        [before, meanwhile]: [Meanwhile<'_>; 2],
        ends: Ends,
    ) -> Result<Vec<Enqueued>, Error> {
        macro_rules! within {
            ($connection:ident) => {{
                let mut tx = $connection.begin_with(begin).await.unwrap();
                if ends != CommittedBlind {
                    // Its snapshot is older than what happens before.
                    let look = "SELECT count(*) FROM sightseeing";
                    sqlx::query(look).execute(&mut *tx).await.unwrap();
                }
                before.await;
                let enqueued = tx.insert(insertion, jobs).await;
                meanwhile.await;
                if ends != RolledBack && enqueued.is_ok() {
                    tx.commit().await.unwrap();
                } else {
                    tx.rollback().await.unwrap();
                }
                enqueued
            }};
        }
        match self {
            Sql::Sqlite(connection) => within!(connection),
            Sql::MySql(connection) => within!(connection),
            Sql::Postgres(connection) => within!(connection),
        }
    }
}

/// The application's connection; `None` where there is no SQL.
async fn application(world: &World) -> Option<Sql> {
    world.store().await;
    let mut sql = world.sql().await?;
    sql.execute("CREATE TABLE IF NOT EXISTS sightseeing (x bigint)")
        .await;
    Some(sql)
}

fn kind(error: &Error) -> Option<StoreErrorKind> {
    match error {
        Error::Store(error) => Some(error.kind()),
        _ => None,
    }
}

pub(crate) async fn it_is_there_when_the_transaction_commits(world: &World) {
    let Some(mut sql) = application(world).await else {
        return;
    };
    let store = world.store().await;
    let insertion = store.insertion();
    for begin in begins(&sql) {
        for ends in [RolledBack, Committed] {
            let commit = ends == Committed;
            let last = started(&*store, "last", LONG).await.key.job;
            let jobs: Vec<_> = (0..1_500)
                .map(|nth| NewJob {
                    payload: Some(nth.to_string()),
                    ..with_key(begin, format!("{nth}"))
                })
                .collect();
            let invisible = Box::pin(async {
                let batch = claim(&*store, &[begin], LONG, 9).await;
                assert_eq!((batch.claims, batch.wait), (Vec::new(), None), "{begin}");
                assert!(store.job(last + 1).await.unwrap().is_none());
            });
            let enqueued = sql
                .within(begin, &*insertion, &jobs, [nothing(), invisible], ends)
                .await
                .unwrap();
            assert_eq!(enqueued.len(), jobs.len());
            assert!(enqueued.iter().all(|job| job.is_new()), "{begin}");
            let claims = claim(&*store, &[begin], LONG, 9_999).await.claims;
            assert_eq!(claims.len(), if commit { jobs.len() } else { 0 }, "{begin}");
            for (job, enqueued) in jobs.iter().zip(enqueued).step_by(100).filter(|_| commit) {
                let claim = claims.iter().find(|claim| claim.key.job == enqueued.id());
                assert_eq!(claim.unwrap().payload.as_deref(), job.payload.as_deref());
            }
            store
                .abandon(&started(&*store, "last", LONG).await.key.owner)
                .await
                .unwrap();
            store
                .cancel(claim_one(&*store, "last", LONG).await.key.job)
                .await
                .unwrap();
        }
    }
}

pub(crate) async fn workers_are_woken_at_the_commit_and_not_before(world: &World) {
    let Some(mut sql) = application(world).await else {
        return;
    };
    let Some(([store, _], mut watch)) = watch(world, "within_").await else {
        return;
    };
    let begin = begins(&sql)[0];
    let watching = Arc::new(tokio::sync::Mutex::new(&mut watch));
    let quiet = Box::pin(async {
        let mut watch = watching.lock().await;
        if world.locks_rows() {
            // What is announced after it is heard; it is not.
            store
                .declare(&[crate::steps::task("other", None)])
                .await
                .unwrap();
            assert_eq!(watch.next().await, Wake::Work);
        }
        assert!(watch.is_quiet(), "woken before there is something");
    });
    sql.within(
        begin,
        &*store.insertion(),
        &[new("task")],
        [nothing(), quiet],
        Committed,
    )
    .await
    .unwrap();
    assert_eq!(watching.lock().await.next().await, Wake::Work);
    claim_one(&*store, "task", LONG).await;
}

pub(crate) async fn another_databases_transaction_is_refused(world: &World) {
    let store = world.store().await;
    for other in [
        World::sqlite().await,
        World::mysql().await,
        World::postgres().await,
    ] {
        let Some(other) = other else { continue };
        let Some(mut sql) = application(&other).await else {
            continue;
        };
        let begin = begins(&sql)[0];
        let refused = async |sql: &mut Sql| {
            let steps = [nothing(), nothing()];
            let enqueued = sql
                .within(begin, &*store.insertion(), &[new("task")], steps, Committed)
                .await;
            assert!(
                matches!(enqueued, Err(Error::OtherDatabase(_))),
                "{enqueued:?}"
            );
            enqueued.unwrap_err().to_string()
        };
        let same_kind = match world.sql().await {
            Some(Sql::Sqlite(_)) => matches!(sql, Sql::Sqlite(_)),
            Some(Sql::MySql(_)) => matches!(sql, Sql::MySql(_)),
            Some(Sql::Postgres(_)) => matches!(sql, Sql::Postgres(_)),
            None => false,
        };
        // One with a store of its own, then one without tables.
        let why = refused(&mut sql).await;
        assert_eq!(same_kind, why.contains("another tasklock store"), "{why}");
        sql.execute("ALTER TABLE tasklock_store RENAME TO elsewhere")
            .await;
        let why = refused(&mut sql).await;
        assert_eq!(same_kind, why.contains("without tasklock tables"), "{why}");
        sql.execute("ALTER TABLE elsewhere RENAME TO tasklock_store")
            .await;
        assert_eq!(sql.number("SELECT count(*) FROM tasklock_job").await, 0);
    }
    assert_eq!(claim(&*store, &["task"], LONG, 9).await.claims, []);
}

/// A transaction has the key, and nobody knows yet whether it commits.
pub(crate) async fn a_key_of_an_open_transaction_is_waited_for(world: &World) {
    let Some(mut sql) = application(world).await else {
        return;
    };
    let (store, other) = (world.store().await, world.store().await);
    let insertion = store.insertion();
    for begin in begins(&sql) {
        for ends in [RolledBack, Committed] {
            let commit = ends == Committed;
            let key = format!("{begin} {commit}");
            let asking = Arc::new(std::sync::Mutex::new(None));
            let second_asks = {
                let (asking, other, key) = (asking.clone(), other.clone(), key.clone());
                Box::pin(async move {
                    let job = with_key("task", key);
                    let enqueuing = tokio::spawn(async move { enqueue(&*other, job).await });
                    *asking.lock().unwrap() = Some(enqueuing);
                    if let Some(mut sql) = world.sql().await.filter(|_| world.locks_rows()) {
                        world.waiting(&mut sql, 1).await;
                    }
                })
            };
            let jobs = [with_key("task", key)];
            let steps: [Meanwhile<'_>; 2] = [nothing(), second_asks];
            let first = sql.within(begin, &*insertion, &jobs, steps, ends).await;
            let first = first.unwrap()[0];
            assert!(first.is_new());
            let asking = asking.lock().unwrap().take().unwrap();
            let second = at_once(asking).await.unwrap();
            if commit {
                assert_eq!(second, Enqueued::Existing(first.id()), "{begin}");
            } else {
                assert!(second.is_new(), "{begin}");
            }
            assert_eq!(job(&*store, second.id()).await.task, "task");
        }
    }
}

/// Of a level without a snapshot: there each read of MariaDB is a lock.
fn sees_by_locks(begin: &str, sql: &Sql) -> bool {
    begin.contains("SERIALIZABLE") && matches!(sql, Sql::MySql(_))
}

/// A transaction whose snapshot does not show who has the key.
pub(crate) async fn a_key_that_the_snapshot_does_not_show(world: &World) {
    let Some(mut sql) = application(world).await else {
        return;
    };
    let store = world.store().await;
    let insertion = store.insertion();
    for begin in begins(&sql) {
        if *begin == "BEGIN IMMEDIATE" {
            // Nobody else writes meanwhile.
            continue;
        }
        let jobs = [with_key("task", *begin)];
        let before = Box::pin(async {
            enqueue(&*store, jobs[0].clone()).await;
        });
        let enqueued = sql
            .within(begin, &*insertion, &jobs, [before, nothing()], Committed)
            .await;
        // A locking read of MariaDB sees the newest row, whatever the snapshot.
        if begin.contains("READ COMMITTED") || world.reads_past_snapshots() {
            assert!(!enqueued.unwrap()[0].is_new());
        } else if let (true, Ok(enqueued)) = (sees_by_locks(begin, &sql), &enqueued) {
            assert!(!enqueued[0].is_new());
        } else {
            let error = enqueued.unwrap_err();
            assert_eq!(kind(&error), Some(StoreErrorKind::Busy), "{begin}: {error}");
        }
        // The same once more, with a snapshot that does.
        let steps = [nothing(), nothing()];
        let enqueued = sql
            .within(begin, &*insertion, &jobs, steps, Committed)
            .await;
        assert!(!enqueued.unwrap()[0].is_new(), "{begin}");
    }
}

/// A transaction that has seen nothing yet has no snapshot that is too old: it waits for its turn.
pub(crate) async fn a_transaction_that_begins_with_it_waits_for_its_turn(world: &World) {
    if application(world).await.is_none() {
        return;
    }
    let store = world.store().await;
    let insertion = store.insertion();
    let mut enqueuing = Vec::new();
    for nth in 0..8 {
        let mut sql = world.sql().await.unwrap();
        let insertion = &insertion;
        enqueuing.push(async move {
            let begin = begins(&sql)[nth % begins(&sql).len()];
            for round in 0..20 {
                let jobs = [with_key("task", format!("{nth} {round}"))];
                let steps = [nothing(), nothing()];
                let enqueued = sql
                    .within(begin, &**insertion, &jobs, steps, CommittedBlind)
                    .await;
                assert!(enqueued.unwrap()[0].is_new());
            }
        });
    }
    let mut enqueuing: Vec<_> = enqueuing.into_iter().map(Box::pin).collect();
    // All at once, on this thread.
    std::future::poll_fn(|context| {
        enqueuing.retain_mut(|one| one.as_mut().poll(context).is_pending());
        match enqueuing.is_empty() {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
}
