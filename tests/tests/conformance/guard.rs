//! Committing somebody's own transaction under a lease.

use std::sync::Arc;

use sqlx::Connection;
use tasklock_runtime::store::{Anchor, Claim, Guarded, Store};
use tasklock_runtime::{CommitError, LeaseLost, Next};

use crate::steps::{LONG, NONE, SHORT, end, held, renewal, renewer, row, taken_over};
use crate::world::{Sql, World};

/// How transactions begin, on each database.
const POSTGRES: &[&str] = &[
    "BEGIN ISOLATION LEVEL READ COMMITTED",
    "BEGIN ISOLATION LEVEL REPEATABLE READ",
    "BEGIN ISOLATION LEVEL SERIALIZABLE",
];
pub(crate) const MYSQL: &[&str] = &[
    "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION",
    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION",
    "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; START TRANSACTION",
];
const SQLITE: &[&str] = &["BEGIN IMMEDIATE", "BEGIN"];

pub(crate) fn begins(sql: &Sql) -> &'static [&'static str] {
    match sql {
        Sql::Sqlite(_) => SQLITE,
        Sql::MySql(_) => MYSQL,
        Sql::Postgres(_) => POSTGRES,
    }
}

impl Sql {
    /// Makes an effect in a transaction, does what `meanwhile` says, then commits under the lease.
    /// The transaction's snapshot is older than what `meanwhile` did.
    pub(crate) async fn effect(
        &mut self,
        begin: &'static str,
        anchor: &Anchor,
        complete: bool,
        meanwhile: Option<impl Future<Output = ()>>,
    ) -> Result<(), CommitError> {
        self.effect_by(begin, &[anchor], complete, meanwhile).await
    }

    /// The same under several leases, of which it completes the first.
    pub(crate) async fn effect_under(
        &mut self,
        begin: &'static str,
        anchors: &[Arc<Anchor>],
        complete: bool,
        meanwhile: Option<impl Future<Output = ()>>,
    ) -> Result<(), CommitError> {
        let anchors: Vec<&Anchor> = anchors.iter().map(|anchor| &**anchor).collect();
        self.effect_by(begin, &anchors, complete, meanwhile).await
    }

    async fn effect_by(
        &mut self,
        begin: &'static str,
        anchors: &[&Anchor],
        complete: bool,
        meanwhile: Option<impl Future<Output = ()>>,
    ) -> Result<(), CommitError> {
        // Where it has written, nobody else can write to the file meanwhile.
        let writes = begin != "BEGIN" || meanwhile.is_none();
        macro_rules! effect {
            ($connection:ident) => {{
                let mut tx = $connection.begin_with(begin).await.unwrap();
                let look = "SELECT count(*) FROM effect, tasklock_job";
                sqlx::query(look).execute(&mut *tx).await.unwrap();
                if writes {
                    let write = "INSERT INTO effect VALUES (1)";
                    sqlx::query(write).execute(&mut *tx).await.unwrap();
                }
                if let Some(meanwhile) = meanwhile {
                    meanwhile.await;
                }
                tx.commit_under(anchors, complete, &|| Ok(())).await
            }};
        }
        match self {
            Sql::Sqlite(connection) => effect!(connection),
            Sql::MySql(connection) => effect!(connection),
            Sql::Postgres(connection) => effect!(connection),
        }
    }

    pub(crate) async fn effects(&mut self) -> String {
        self.text("SELECT CAST(count(*) AS text) FROM effect").await
    }
}

/// A connection of the application's, which has a table for its effects.
pub(crate) async fn application(world: &World) -> Option<Sql> {
    // A SQLite file is there only after its store.
    world.store().await;
    let mut sql = world.sql().await?;
    sql.execute("CREATE TABLE effect (x bigint)").await;
    Some(sql)
}

fn anchor(store: &dyn Store, claim: &Claim) -> Arc<Anchor> {
    store.anchor(end(&claim.key, Next::Dormant), LONG)
}

/// Nothing happens meanwhile.
pub(crate) const NOTHING: Option<std::future::Ready<()>> = None;

pub(crate) fn is_refused(committed: &Result<(), CommitError>) -> bool {
    matches!(
        committed,
        Err(CommitError::Lost(LeaseLost::TakenOver) | CommitError::Retry(_))
    )
}

/// Where the guard sets one of the session's for itself.
async fn own_time_out(sql: &mut Sql) {
    if matches!(sql, Sql::MySql(_)) {
        sql.execute("SET SESSION idle_transaction_timeout = 77")
            .await;
    }
}

async fn has_its_own_time_out(sql: &mut Sql) {
    if matches!(sql, Sql::MySql(_)) {
        let query = "SELECT CAST(@@SESSION.idle_transaction_timeout AS SIGNED)";
        assert_eq!(sql.number(query).await, 77);
    }
}

pub(crate) async fn it_commits_while_the_lease_is_held(world: &World) {
    let Some(mut sql) = application(world).await else {
        return;
    };
    let store = world.store().await;
    own_time_out(&mut sql).await;
    for begin in begins(&sql) {
        let claim = held(&*store, begin, LONG).await;
        let mut heartbeat = renewer(&*store).await;
        let renewed = heartbeat.renew(&[renewal(&claim.key, LONG)]).await;
        assert_eq!(renewed.unwrap(), [claim.key.job]);
        let beats = async {
            // A renewal during the transaction, which on SQLite the file's one writer holds up.
            if world.locks_rows() {
                let renewed = heartbeat.renew(&[renewal(&claim.key, LONG)]).await;
                assert_eq!(renewed.unwrap(), [claim.key.job]);
            }
        };
        let committed = sql
            .effect(begin, &*anchor(&*store, &claim), false, Some(beats))
            .await;
        assert!(committed.is_ok(), "{begin}: {committed:?}");
        assert!(row(&*store, claim.key.job).await.running, "{begin}");
        has_its_own_time_out(&mut sql).await;
    }
    let written = begins(&sql)
        .iter()
        .filter(|begin| **begin != "BEGIN")
        .count();
    assert_eq!(sql.effects().await, written.to_string());
}

pub(crate) async fn a_former_owner_commits_nothing(world: &World) {
    let Some(mut sql) = application(world).await else {
        return;
    };
    let store = world.store().await;
    own_time_out(&mut sql).await;
    for begin in begins(&sql) {
        let first = held(&*store, begin, SHORT).await;
        let second = taken_over(&*store, begin, LONG).await;
        let before = row(&*store, second.key.job).await;
        for complete in [false, true] {
            let anchor = anchor(&*store, &first);
            let committed = sql.effect(begin, &*anchor, complete, NOTHING).await;
            has_its_own_time_out(&mut sql).await;
            assert!(
                matches!(committed, Err(CommitError::Lost(LeaseLost::TakenOver))),
                "{begin}: {committed:?}"
            );
        }
        let after = row(&*store, second.key.job).await;
        assert_eq!(
            (after.fence, after.owner),
            (before.fence, before.owner),
            "{begin}"
        );
    }
    assert_eq!(sql.effects().await, "0");
}

/// A pauses, B claims; A finishes, renews, gives back and commits: each in vain, and B's row is as it was.
pub(crate) async fn a_paused_owner_finishes_renews_and_commits_in_vain(world: &World) {
    let Some(mut sql) = application(world).await else {
        return;
    };
    let (a, b) = (world.store().await, world.store().await);
    let mut observer = world.observer().await;
    for begin in begins(&sql) {
        let first = held(&*a, begin, SHORT).await;
        let mut heartbeat = renewer(&*a).await;
        let second = taken_over(&*b, begin, LONG).await;
        let before = observer.see(second.key.job).await;
        let ends = [end(&first.key, Next::Dormant)];
        assert_eq!(a.finish(&ends).await.unwrap(), NONE, "{begin}");
        let renewals = [renewal(&first.key, LONG)];
        assert_eq!(heartbeat.renew(&renewals).await.unwrap(), NONE, "{begin}");
        let keys = [first.key.clone()];
        assert_eq!(a.release(&keys).await.unwrap(), NONE, "{begin}");
        for complete in [false, true] {
            let anchor = anchor(&*a, &first);
            let committed = sql.effect(begin, &*anchor, complete, NOTHING).await;
            assert!(
                matches!(committed, Err(CommitError::Lost(LeaseLost::TakenOver))),
                "{begin}: {committed:?}"
            );
        }
        assert_eq!(observer.see(second.key.job).await, before, "{begin}");
    }
    assert_eq!(sql.effects().await, "0");
}

/// The transaction has seen the lease held, in its snapshot.
pub(crate) async fn a_takeover_during_the_transaction_refuses_it(world: &World) {
    let Some(mut sql) = application(world).await else {
        return;
    };
    let store = world.store().await;
    for begin in begins(&sql) {
        if *begin == "BEGIN IMMEDIATE" {
            // Nobody else can write while this one is open: no takeover.
            continue;
        }
        for complete in [false, true] {
            let task = format!("{begin} {complete}");
            let first = held(&*store, &task, SHORT).await;
            let overtaken = async {
                taken_over(&*store, &task, LONG).await;
            };
            let anchor = anchor(&*store, &first);
            let committed = sql.effect(begin, &*anchor, complete, Some(overtaken)).await;
            assert!(is_refused(&committed), "{task}: {committed:?}");
            assert!(row(&*store, first.key.job).await.running, "{task}");
        }
    }
    assert_eq!(sql.effects().await, "0");
}

pub(crate) async fn an_ended_run_commits_nothing(world: &World) {
    let Some(mut sql) = application(world).await else {
        return;
    };
    let store = world.store().await;
    for begin in begins(&sql) {
        let finished = held(&*store, &format!("{begin} finished"), LONG).await;
        let released = held(&*store, &format!("{begin} released"), LONG).await;
        let ends = [end(&finished.key, Next::Dormant)];
        assert_eq!(store.finish(&ends).await.unwrap(), [finished.key.job]);
        let keys = [released.key.clone()];
        assert_eq!(store.release(&keys).await.unwrap(), [released.key.job]);
        for ended in [finished, released] {
            let committed = sql
                .effect(begin, &*anchor(&*store, &ended), false, NOTHING)
                .await;
            assert!(is_refused(&committed), "{begin}: {committed:?}");
        }
    }
    assert_eq!(sql.effects().await, "0");
}

pub(crate) async fn a_transaction_completes_its_job_exactly_once(world: &World) {
    let Some(mut sql) = application(world).await else {
        return;
    };
    let store = world.store().await;
    for begin in begins(&sql) {
        let claim = held(&*store, begin, LONG).await;
        let mut heartbeat = renewer(&*store).await;
        let renewals = [renewal(&claim.key, LONG)];
        assert_eq!(heartbeat.renew(&renewals).await.unwrap(), [claim.key.job]);
        let anchor = anchor(&*store, &claim);
        let committed = sql.effect(begin, &*anchor, true, NOTHING).await;
        assert!(committed.is_ok(), "{begin}: {committed:?}");
        let done = row(&*store, claim.key.job).await;
        assert!(!done.running, "{begin}");
        assert_eq!(done.last_outcome.as_deref(), Some("succeeded"), "{begin}");
        assert_eq!((done.due_at, done.attempt), (None, 0), "{begin}");

        let again = sql.effect(begin, &*anchor, true, NOTHING).await;
        assert!(is_refused(&again), "{begin}: {again:?}");
        assert_eq!(heartbeat.renew(&renewals).await.unwrap(), NONE);
        let ends = [end(&claim.key, Next::at(1))];
        assert_eq!(store.finish(&ends).await.unwrap(), NONE);
    }
    let written = begins(&sql).len();
    assert_eq!(sql.effects().await, written.to_string());
}

pub(crate) async fn another_stores_transaction_is_refused(world: &World) {
    let store = world.store().await;
    let claim = held(&*store, "task", LONG).await;
    let anchor = anchor(&*store, &claim);
    for other in [
        World::sqlite().await,
        World::mysql().await,
        World::postgres().await,
    ] {
        let Some(other) = other else { continue };
        // One without tables, then one with a store of its own, and the same job in it.
        let Some(mut sql) = application(&other).await else {
            continue;
        };
        sql.execute("ALTER TABLE tasklock_job RENAME TO elsewhere")
            .await;
        sql.execute("CREATE TABLE tasklock_job (x bigint)").await;
        let begin = begins(&sql)[0];
        let committed = sql.effect(begin, &*anchor, false, NOTHING).await;
        assert!(
            matches!(committed, Err(CommitError::OtherDatabase(_))),
            "{committed:?}"
        );
        sql.execute("DROP TABLE tasklock_job").await;
        sql.execute("ALTER TABLE elsewhere RENAME TO tasklock_job")
            .await;
        held(&*other.store().await, "task", LONG).await;
        for complete in [false, true] {
            let committed = sql.effect(begin, &*anchor, complete, NOTHING).await;
            assert!(
                matches!(committed, Err(CommitError::OtherDatabase(_))),
                "{committed:?}"
            );
        }
        assert_eq!(sql.effects().await, "0");
    }
    assert!(row(&*store, claim.key.job).await.running);
}
