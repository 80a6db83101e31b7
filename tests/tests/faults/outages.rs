//! The store goes away for everybody, or takes no writes: for less than the documented bound nothing is
//! lost; for longer, every handler knows before anybody else starts.

use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use tasklock_test_support::postgres::Stop;
use tasklock_test_support::process::boottime;
use tasklock_test_support::wait::eventually;

use crate::arena::{Arena, STANDING, TASKS, say};
use crate::database::Database;

scenarios! {
    away_for_less_than_the_bound on sqlite mysql_server postgres_server redis => Never;
    away_for_longer on sqlite mysql_server postgres_server redis => Never;
    frozen_for_longer on postgres_server redis => Never;
    read_only on postgres_server redis => Never;
    disk_full on sqlite postgres => Never;
}

/// Of the task `lasting`: its ttl of 12 s, less the margin of 2 s, a heartbeat of 1 s and one call.
const BOUND: Duration = Duration::from_millis(7_500);
const FENCE: &str = "SELECT fence FROM tasklock_job WHERE task = 'lasting'";

/// Whoever writes for long in the same file keeps everybody from it: the outage of a store without a server.
async fn away(arena: &Arena, time: Duration) -> Duration {
    let from = boottime();
    match arena.place.server() {
        Some(server) => {
            server.stop(Stop::Immediate).await;
            tokio::time::sleep(time).await;
            server.start_again().await;
        }
        None => {
            let mut lock = arena.place.connect().await;
            run(&mut lock, "BEGIN IMMEDIATE").await;
            tokio::time::sleep(time).await;
            run(&mut lock, "ROLLBACK").await;
        }
    }
    boottime() - from
}

async fn run(database: &mut Database, sql: &str) {
    database
        .run(sql)
        .await
        .unwrap_or_else(|error| panic!("{error} in {sql}"));
}

async fn away_for_less_than_the_bound(arena: &mut Arena) {
    arena.fleet(2, "lasting");
    let fence = arena.place.number(FENCE).await;
    for _ in 0..3 {
        let gone = away(arena, Duration::from_secs(2)).await;
        assert!(gone < BOUND, "too slow a machine: away for {gone:?}");
        // Renewed again: an expiry that only a renewal after the return can have brought.
        let renewals = "SELECT count(*) FROM audit WHERE op = 'renew'";
        let before = arena.place.number(renewals).await;
        arena.place.wait_until_more_than(before, renewals).await;
        arena.bitten += 1;
        say(&format!(
            "{}: away for {gone:.1?} of {BOUND:?}: the lease goes on",
            arena.place.name()
        ));
    }
    assert_eq!(arena.place.number(FENCE).await, fence, "it was lost");
    silent_for(arena, Duration::from_secs(2)).await;
    arena.tell_all("finish");
}

/// The fault has bitten: for so long the store did nothing for anybody.
async fn silent_for(arena: &Arena, time: Duration) {
    let silence = arena.place.longest_silence().await;
    assert!(silence >= time, "the store was silent for {silence:?} only");
}

/// The oracle compares what everybody believed with the claims that come after the return.
async fn away_for_longer(arena: &mut Arena) {
    arena.fleet(3, TASKS);
    for _ in 0..3 {
        arena.holder();
        let held: Vec<_> = arena
            .seats
            .iter()
            .flat_map(super::seat::Seat::held)
            .collect();
        away(arena, Duration::from_secs(2)).await;
        arena.place.taken_over(&held).await;
        arena.bitten += 1;
    }
    silent_for(arena, Duration::from_secs(2)).await;
}

/// Its processes are stopped: connections stay open, and nothing answers.
async fn frozen_for_longer(arena: &mut Arena) {
    arena.fleet(3, TASKS);
    for _ in 0..4 {
        arena.holder();
        let server = arena.place.server().expect("it has one of its own");
        server.pause().await;
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        // What everybody believes by now, before anything can happen in the store.
        eventually(crate::BOUND, || {
            arena.seats.iter().all(|seat| seat.held().is_empty())
        });
        server.resume().await;
        arena.bitten += 1;
    }
    silent_for(arena, Duration::from_millis(1_500)).await;
}

async fn read_only(arena: &mut Arena) {
    arena.fleet(2, TASKS);
    for _ in 0..4 {
        arena.holder();
        for (setting, time) in [("on", 1_500), ("off", 300)] {
            let mut database = arena.place.connect().await;
            if let Database::Redis(mirror) = &mut database {
                // It has none.
                let replicas = if setting == "on" { "1" } else { "0" };
                let command = ["CONFIG", "SET", "min-replicas-to-write", replicas];
                mirror.operate(&command).await.expect("it obeys");
            } else {
                let sql = format!("ALTER SYSTEM SET default_transaction_read_only = {setting}");
                run(&mut database, &sql).await;
                run(&mut database, "SELECT pg_reload_conf()").await;
            }
            tokio::time::sleep(Duration::from_millis(time)).await;
        }
        arena.bitten += 1;
    }
    silent_for(arena, Duration::from_millis(1_200)).await;
}

/// Postgres says it with its own code for a full disk, from triggers; of SQLite's file no process may
/// write a byte beyond its first pages, which is an error of the same write.
async fn disk_full(arena: &mut Arena) {
    if !arena.place.is_sqlite() {
        for statement in [
            "CREATE TABLE disk_is_full (yes int)",
            "CREATE FUNCTION disk_full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF EXISTS (SELECT FROM disk_is_full) THEN
                    RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100';
                END IF;
                RETURN new;
            END $$",
            "CREATE TRIGGER disk_full BEFORE INSERT OR UPDATE ON tasklock_job
             FOR EACH ROW EXECUTE FUNCTION disk_full()",
            "CREATE TRIGGER disk_full BEFORE INSERT OR UPDATE ON tasklock_heartbeat
             FOR EACH ROW EXECUTE FUNCTION disk_full()",
        ] {
            arena.place.run(statement).await;
        }
    }
    // There the workers' ledgers have to stay small.
    let tasks = if arena.place.is_sqlite() {
        STANDING
    } else {
        TASKS
    };
    arena.fleet(2, tasks);
    for _ in 0..4 {
        arena.holder();
        fill(arena, true).await;
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        fill(arena, false).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        arena.bitten += 1;
    }
    silent_for(arena, Duration::from_millis(1_200)).await;
}

async fn fill(arena: &Arena, full: bool) {
    if !arena.place.is_sqlite() {
        let sql = if full {
            "INSERT INTO disk_is_full VALUES (1)"
        } else {
            "DELETE FROM disk_is_full"
        };
        arena.place.run(sql).await;
        return;
    }
    let limit = Rlimit {
        // The ledger stays below it, the database does not.
        current: full.then_some(48 << 10),
        maximum: None,
    };
    for seat in &arena.seats {
        let pid = Pid::from_raw(seat.worker.pid());
        prlimit(pid, Resource::Fsize, limit).expect("the limit of a child can be set");
    }
}
