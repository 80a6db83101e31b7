//! Fencing somebody's own transactions in a database that holds no leases.

mod foreign;
mod storm;

use tasklock_runtime::{Dialect, FenceError, fence_table_sql};
use tasklock_test_support::wait::eventually_async;
use tokio::time::timeout;

use crate::steps::BOUND;
use crate::world::{Sql, WAITING, World};
use foreign::{Tx, connect, foreign};
pub(crate) use storm::effects_come_in_the_order_of_their_fences;

/// The fence that refused this one.
fn stale<T>(ended: &Result<T, FenceError>) -> Option<i64> {
    match ended {
        Err(FenceError::Stale { registered, .. }) => Some(*registered),
        _ => None,
    }
}

fn is_retry<T>(ended: &Result<T, FenceError>) -> bool {
    matches!(ended, Err(FenceError::Retry(_)))
}

/// Whether a transaction goes on in a snapshot that its first statement took.
fn keeps_its_snapshot(level: &str) -> bool {
    level.ends_with("REPEATABLE READ") || level.ends_with("SERIALIZABLE")
}

pub(crate) async fn a_smaller_fence_is_refused_and_cannot_be_committed(world: &World) {
    let Some(mut sql) = foreign(world).await else {
        return;
    };
    sql.work(sql.levels()[0], "a", 5).await.unwrap();
    for level in sql.levels() {
        for fence in [4, 1] {
            let mut tx = sql.begin(level).await.unwrap();
            let refused = tx.fence("a", fence).await;
            assert_eq!(stale(&refused), Some(5), "{level}: {refused:?}");
            let message = refused.unwrap_err().to_string();
            assert!(
                message.contains("\"a\"") && message.contains(" 5 "),
                "{message}"
            );
            // Whatever a caller does who does not listen.
            let written = tx.effect(fence, 0).await;
            let committed = tx.commit().await;
            // Postgres refuses the statement, and answers COMMIT by rolling back; SQLite refuses that.
            assert_eq!(written.is_err(), committed.is_ok(), "{level}");
            assert_eq!(sql.state().await, "a=5: 5", "{level}");
        }
    }
    // It does not stay with the connection or the row.
    sql.work(sql.levels()[0], "a", 5).await.unwrap();
    assert_eq!(sql.state().await, "a=5: 5 5");
}

pub(crate) async fn an_equal_and_a_greater_fence_pass(world: &World) {
    let Some(mut sql) = foreign(world).await else {
        return;
    };
    for level in sql.levels() {
        for fence in [1, 1, 2, i64::MAX] {
            sql.work(level, level, fence).await.unwrap();
        }
        let refused = sql.work(level, level, i64::MAX - 1).await;
        assert_eq!(stale(&refused), Some(i64::MAX), "{level}: {refused:?}");
    }
}

pub(crate) async fn a_registration_goes_with_its_transaction(world: &World) {
    let Some(mut sql) = foreign(world).await else {
        return;
    };
    for level in sql.levels() {
        let mut tx = sql.begin(level).await.unwrap();
        tx.fence("a", 9).await.unwrap();
        tx.roll_back().await;
        sql.work(level, "a", 1).await.unwrap();
    }
}

/// Two transactions of one level meet: the first one's is open, its fence registered in it or `known`
/// before, when the second shows its own. The second must come after the first, or not at all.
async fn meet(world: &World, sql: &mut Sql, level: &'static str, known: bool, fences: [i64; 2]) {
    let [first, second] = fences;
    let name = format!("{level} {known} {first}");
    let mut other = connect(world).await.unwrap();
    if known {
        other.work(level, &name, first).await.unwrap();
    }
    let mut tx = sql.begin(level).await.unwrap();
    tx.fence(&name, first).await.unwrap();
    let before = tx.effects().await.unwrap();
    tx.effect(first, before).await.unwrap();

    let met = match other {
        Sql::Sqlite(_) => {
            // The file has one writer: the other is told so.
            other.execute("PRAGMA busy_timeout = 20").await;
            let met = other.work(level, &name, second).await;
            assert!(is_retry(&met), "{name}: {met:?}");
            tx.commit().await.unwrap();
            met
        }
        Sql::MySql(_) => {
            let mut onlooker = connect(world).await.unwrap();
            let waiting = other.work(level, &name, second);
            let released = async {
                eventually_async(BOUND, async || {
                    (onlooker.number(WAITING).await > 0).then_some(())
                })
                .await;
                tx.commit().await.unwrap();
            };
            tokio::join!(waiting, released).0
        }
        Sql::Postgres(_) => {
            let pid = other.text("SELECT pg_backend_pid()::text").await;
            let waiting = other.work(level, &name, second);
            let mut onlooker = connect(world).await.unwrap();
            let released = async {
                eventually_async(BOUND, async || {
                    let query = format!(
                        "SELECT (wait_event_type = 'Lock')::text FROM pg_stat_activity
                         WHERE pid = {pid} AND wait_event_type IS NOT NULL
                         UNION ALL SELECT 'false' LIMIT 1"
                    );
                    (onlooker.text(&query).await == "true").then_some(())
                })
                .await;
                tx.commit().await.unwrap();
            };
            tokio::join!(waiting, released).0
        }
    };
    if keeps_its_snapshot(level) {
        assert!(is_retry(&met), "{name}: {met:?}");
    }
    let met = match met {
        Err(FenceError::Retry(_)) => other.work(level, &name, second).await,
        ended => ended,
    };
    if second >= first {
        // It has seen what the first one committed.
        assert_eq!(met.unwrap(), before + 1, "{name}");
    } else {
        assert_eq!(stale(&met), Some(first), "{name}: {met:?}");
    }
    if second > first {
        let late = sql.work(level, &name, first).await;
        assert_eq!(stale(&late), Some(second), "{name}: {late:?}");
    }
}

pub(crate) async fn a_newer_fence_waits_for_the_older_transaction(world: &World) {
    let Some(mut sql) = foreign(world).await else {
        return;
    };
    for level in sql.levels() {
        meet(world, &mut sql, level, true, [1, 2]).await;
    }
}

pub(crate) async fn an_equal_fence_waits_too(world: &World) {
    let Some(mut sql) = foreign(world).await else {
        return;
    };
    for level in sql.levels() {
        meet(world, &mut sql, level, true, [7, 7]).await;
    }
}

pub(crate) async fn two_register_first(world: &World) {
    let Some(mut sql) = foreign(world).await else {
        return;
    };
    for level in sql.levels() {
        for fences in [[1, 2], [4, 3], [5, 5]] {
            meet(world, &mut sql, level, false, fences).await;
        }
    }
}

/// The older holder's snapshot is older than the newer one's registration.
pub(crate) async fn an_old_snapshot_does_not_help(world: &World) {
    let Some(mut sql) = foreign(world).await else {
        return;
    };
    let mut other = connect(world).await.unwrap();
    for level in sql.levels() {
        if *level == "BEGIN IMMEDIATE" {
            // Nobody registers while this one is open.
            continue;
        }
        if level.contains("SERIALIZABLE") && matches!(sql, Sql::MySql(_)) {
            // Nobody writes what this one has read.
            continue;
        }
        for known in [false, true] {
            let name = format!("{level} {known}");
            if known {
                sql.work(level, &name, 1).await.unwrap();
            }
            let mut tx = sql.begin(level).await.unwrap();
            tx.effects().await.unwrap();
            other.work(level, &name, 2).await.unwrap();
            let late = tx.fence(&name, 1).await;
            // A locking read of MariaDB sees the newest row, whatever the snapshot.
            let sees = level.contains("READ COMMITTED") || world.reads_past_snapshots();
            let refused = if sees {
                stale(&late) == Some(2)
            } else {
                is_retry(&late)
            };
            assert!(refused, "{name}: {late:?}");
            tx.roll_back().await;
            let again = sql.work(level, &name, 1).await;
            assert_eq!(stale(&again), Some(2), "{name}: {again:?}");
        }
    }
}

pub(crate) async fn another_name_is_not_touched(world: &World) {
    let Some(mut sql) = foreign(world).await else {
        return;
    };
    let mut other = connect(world).await.unwrap();
    for level in sql.levels() {
        for name in ["a", "A", "a%", "a b"] {
            sql.persist(level, name, 5).await.unwrap();
        }
    }
    for level in sql.levels() {
        let mut tx = sql.begin(level).await.unwrap();
        tx.fence("a", 6).await.unwrap();
        if world.locks_rows() {
            // Nor does anybody wait.
            let beside = async {
                let mut tx = other.begin(level).await.unwrap();
                tx.fence("A", 5).await.unwrap();
                let refused = tx.fence("a%", 4).await;
                assert_eq!(stale(&refused), Some(5), "{level}: {refused:?}");
            };
            timeout(BOUND, beside).await.expect("it does not wait");
        }
        tx.commit().await.unwrap();
    }
    let others =
        "SELECT CAST(count(*) AS text) FROM tasklock_fence WHERE name <> 'a' AND fence = 5";
    assert_eq!(sql.text(others).await, "3");
}

pub(crate) async fn a_missing_table_is_said_with_its_sql(world: &World) {
    let Some(mut sql) = connect(world).await else {
        return;
    };
    let create = fence_table_sql(sql.dialect());
    for level in sql.levels() {
        for statement in [
            "",
            "CREATE TABLE tasklock_fence (name text PRIMARY KEY, x int)",
        ] {
            if !statement.is_empty() {
                sql.execute(statement).await;
            }
            let missing = sql.begin(level).await.unwrap().fence("a", 1).await;
            let error = missing.unwrap_err();
            assert!(
                matches!(error, FenceError::NoTable { .. }),
                "{level}: {error:?}"
            );
            assert!(error.to_string().ends_with(create), "{error}");
        }
        sql.execute("DROP TABLE tasklock_fence").await;
    }
    // Twice: again it changes nothing.
    for _ in 0..2 {
        sql.execute(create).await;
        let mut tx = sql.begin(sql.levels()[0]).await.unwrap();
        tx.fence("a", 1).await.unwrap();
        tx.commit().await.unwrap();
    }
}

/// A column of another type, or one that holds NULL: whatever the answer is, it is no pass.
pub(crate) async fn a_table_of_another_shape_lets_nothing_through(world: &World) {
    let Some(mut sql) = foreign(world).await else {
        return;
    };
    let shape = match sql.dialect() {
        Dialect::Postgres => "fence int, updated_at timestamptz",
        _ => "fence int, updated_at text, refused text",
    };
    for level in sql.levels() {
        sql.execute("DROP TABLE tasklock_fence").await;
        sql.execute(&format!(
            "CREATE TABLE tasklock_fence (name text PRIMARY KEY, {shape})"
        ))
        .await;
        sql.execute("INSERT INTO tasklock_fence (name) VALUES ('a')")
            .await;
        let mut tx = sql.begin(level).await.unwrap();
        let answer = tx.fence("a", 5).await;
        assert!(answer.is_err(), "{level}: {answer:?}");
        // Where the server has seen no error, either.
        if matches!(tx, Tx::Postgres(_)) {
            assert!(tx.effect(5, 0).await.is_err(), "{level}");
        }
        tx.roll_back().await;
    }
}

pub(crate) async fn what_is_no_name_or_no_fence_is_refused(world: &World) {
    let Some(mut sql) = foreign(world).await else {
        return;
    };
    let long = "é".repeat(65);
    for level in sql.levels() {
        for (name, what) in [
            ("", "empty"),
            ("a\0b", "byte 1"),
            (&long, "this one has 130"),
        ] {
            let error = sql.work(level, name, 1).await.unwrap_err();
            assert!(matches!(error, FenceError::Name { .. }), "{error:?}");
            assert!(error.to_string().contains(what), "{error}");
        }
        for fence in [0, -1, i64::MIN] {
            let error = sql.work(level, "a", fence).await.unwrap_err();
            assert!(matches!(error, FenceError::Fence { .. }), "{error:?}");
            assert!(error.to_string().contains(&fence.to_string()), "{error}");
        }
    }
    assert_eq!(sql.state().await, ": ");
    sql.work(sql.levels()[0], &long[2..], 1).await.unwrap();
}
