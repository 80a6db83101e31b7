//! Somebody else at the rows: locks held for long, in the wrong order, serialization failures; and
//! workers that are asked to stop in the midst of everything.

use std::time::Duration;

use tasklock_test_support::proxy::Mode;

use crate::arena::{Arena, TASKS};
use crate::database::Database;
use crate::draw::Draw;
use tasklock_tests::stage::Mirror;

scenarios! {
    deadlocks_and_serialization_failures on sqlite mysql postgres => Never;
    asked_to_stop_during_everything on sqlite postgres redis => Any;
    an_operators_commands on redis => Never;
}

/// An operator's transactions that lock rows in the wrong order, and long.
pub(crate) async fn sabotage(database: &mut Database, draw: &mut Draw) {
    let hold = Duration::from_millis(draw.below(200));
    let kind = draw.below(3);
    if let Database::Redis(mirror) = database {
        disturb(mirror, kind, hold).await;
        return;
    }
    let statements: &[&str] = match database {
        Database::Redis(_) => &[],
        Database::Sqlite(_) => &[
            "BEGIN IMMEDIATE",
            "UPDATE tasklock_job SET lock_worker = lock_worker",
        ],
        Database::MySql(_) => match kind {
            0 => &[
                "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION",
                "SELECT id FROM tasklock_job WHERE id % 2 = 0 FOR UPDATE",
                "SELECT job_id FROM tasklock_heartbeat FOR UPDATE",
                "SELECT id FROM tasklock_job ORDER BY id DESC FOR UPDATE",
            ],
            1 => &[
                "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; START TRANSACTION",
                "SELECT * FROM tasklock_job",
                "UPDATE tasklock_job SET lock_worker = lock_worker WHERE id % 3 = 0",
            ],
            _ => &[
                "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION",
                "SELECT job_id FROM tasklock_heartbeat ORDER BY job_id DESC FOR UPDATE",
                "SELECT id FROM tasklock_job ORDER BY id DESC LOCK IN SHARE MODE",
            ],
        },
        Database::Postgres(_) => match kind {
            0 => &[
                "BEGIN",
                "SELECT FROM tasklock_job WHERE id % 2 = 0 FOR UPDATE",
                "SELECT FROM tasklock_heartbeat FOR UPDATE",
                "SELECT FROM tasklock_job ORDER BY id DESC FOR UPDATE",
            ],
            1 => &[
                "BEGIN ISOLATION LEVEL SERIALIZABLE",
                "SELECT * FROM tasklock_job",
                "UPDATE tasklock_job SET lock_worker = lock_worker WHERE id % 3 = 0",
            ],
            _ => &[
                "BEGIN ISOLATION LEVEL REPEATABLE READ",
                "SELECT FROM tasklock_heartbeat ORDER BY job_id DESC FOR UPDATE",
                "SELECT FROM tasklock_job ORDER BY id DESC FOR SHARE",
            ],
        },
    };
    for statement in statements {
        // It may be the victim itself.
        if database.run(statement).await.is_err() {
            break;
        }
    }
    tokio::time::sleep(hold).await;
    let _ = database.run("ROLLBACK").await;
}

/// Where scripts run one at a time nothing is locked: an operator can make everybody wait, close connections, and throw
/// scripts away.
async fn disturb(mirror: &mut Mirror, kind: u64, hold: Duration) {
    let millis = hold.as_millis().to_string();
    let commands: &[&[&str]] = match kind {
        0 => &[&["CLIENT", "PAUSE", &millis]],
        1 => &[
            &["CLIENT", "KILL", "TYPE", "normal"],
            &["CLIENT", "KILL", "TYPE", "pubsub"],
        ],
        _ => &[&["SCRIPT", "FLUSH"]],
    };
    for command in commands {
        // The server may be away.
        let _ = mirror.operate(command).await;
    }
    tokio::time::sleep(hold).await;
}

/// So many.
const COMMANDS: u64 = 60;

async fn an_operators_commands(arena: &mut Arena) {
    arena.fleet(3, TASKS);
    let mut draw = Draw::new(Draw::seed());
    for round in 0..COMMANDS {
        let mut database = arena.place.connect().await;
        let Database::Redis(mirror) = &mut database else {
            panic!("it is for Redis");
        };
        let hold = Duration::from_millis(draw.below(200));
        disturb(mirror, round % 3, hold).await;
        arena.bitten += 1;
    }
}

const ROUNDS: usize = 250;
const DEADLOCKS: &str = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";

async fn deadlocks_and_serialization_failures(arena: &mut Arena) {
    arena.fleet(3, TASKS);
    let counted = !arena.place.is_sqlite() && !arena.place.is_mysql();
    let seed = Draw::seed();
    let saboteurs = (0..2).map(|number| {
        let place = &arena.place;
        async move {
            let mut draw = Draw::new(seed + number);
            let mut database = place.connect().await;
            if counted {
                let _ = database.run("SET deadlock_timeout = '50ms'").await;
            }
            for round in 0..ROUNDS {
                // As long as it takes until the server has seen one.
                if round >= 25 && (!counted || place.number(DEADLOCKS).await > 0) {
                    break;
                }
                sabotage(&mut database, &mut draw).await;
                tokio::time::sleep(Duration::from_millis(draw.below(60))).await;
            }
        }
    });
    let mut saboteurs: Vec<_> = saboteurs.map(Box::pin).collect();
    let (one, two) = saboteurs.split_at_mut(1);
    tokio::join!(one[0].as_mut(), two[0].as_mut());
    drop(saboteurs);
    arena.bitten += 50;
    assert!(
        !counted || arena.place.number(DEADLOCKS).await > 0,
        "there was no deadlock"
    );
}

/// SIGTERM while it runs, is cut off, starved, paused, or has just been told so already.
async fn asked_to_stop_during_everything(arena: &mut Arena) {
    arena.fleet(3, TASKS);
    for round in 0..12 {
        let index = arena.holder();
        let seat = &mut arena.seats[index];
        match (round % 6, &seat.proxy) {
            (1, Some(proxy)) => proxy.set(Mode::Hold),
            (2, Some(proxy)) => proxy.set(Mode::LoseReplies),
            (1 | 2, None) => drop(seat.tell("hog 2000")),
            (3, _) => drop(seat.tell("starve 1500")),
            (4, _) => drop(seat.tell("panic")),
            (5, _) => seat.pause(Duration::from_millis(1_200)).await,
            _ => {}
        }
        seat.worker.term();
        if round % 4 == 3 {
            // The second ends the grace period.
            tokio::time::sleep(Duration::from_millis(100)).await;
            if seat.worker.ended().is_none() {
                seat.worker.term();
            }
        }
        let status = seat.worker.wait_exit(crate::BOUND);
        assert!(status.success(), "{status}: {}", seat.worker.report());
        if let Some(proxy) = &seat.proxy {
            proxy.set(Mode::Pass);
            proxy.reset_all();
        }
        seat.restart();
        arena.bitten += 1;
    }
}
