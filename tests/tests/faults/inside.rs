//! Trouble that an application makes for itself: starved threads, a used-up pool, panics, clocks, names.

use std::time::Duration;

use tasklock_test_support::process::{Event, boottime};
use tasklock_test_support::wait::eventually;

use crate::arena::{Arena, TASKS};

scenarios! {
    starved_for_three_ttls on sqlite postgres redis => Never;
    pool_exhausted on sqlite postgres => Never;
    panics_and_aborts on sqlite postgres redis => Never;
    clocks_that_differ on sqlite postgres => Never;
    suspended on sqlite postgres => Never;
    one_name_for_all on sqlite postgres => Never;
    two_versions on sqlite postgres => Any;
}

/// No thread of the application's runtime gets to run; the heartbeat has one of its own.
async fn starved_for_three_ttls(arena: &mut Arena) {
    arena.fleet(2, "a0,s0,lasting");
    for _ in 0..2 {
        let seat = &arena.seats[arena.holder()];
        assert!(seat.tell("starve 3000"), "{}", seat.worker.report());
        tokio::time::sleep(Duration::from_millis(500)).await;
        let held = seat.held();
        tokio::time::sleep(Duration::from_millis(2_000)).await;
        // Two ttls later they are the same.
        let still = seat.held();
        if held.iter().any(|lease| still.contains(lease)) {
            arena.bitten += 1;
        }
        tokio::time::sleep(Duration::from_millis(1_000)).await;
    }
    arena.tell_all("finish");
}

async fn pool_exhausted(arena: &mut Arena) {
    arena.fleet(2, TASKS);
    for _ in 0..2 {
        let seat = &arena.seats[arena.holder()];
        assert!(seat.tell("hog 3000"), "{}", seat.worker.report());
        tokio::time::sleep(Duration::from_millis(3_200)).await;
        let waited_in_vain = |event: &Event| {
            event.is("db")
                && event
                    .str("why")
                    .is_some_and(|why| why.contains("timed out"))
        };
        if seat.worker.events().iter().any(waited_in_vain) {
            arena.bitten += 1;
        }
    }
}

async fn panics_and_aborts(arena: &mut Arena) {
    arena.fleet(3, TASKS);
    for round in 0..6 {
        let index = arena.holder();
        let seat = &mut arena.seats[index];
        if round % 2 == 0 {
            let panics = || seat.worker.stderr().matches("as the test wants it").count();
            let before = panics();
            seat.tell("panic");
            eventually(crate::BOUND, || panics() > before);
            seat.tell("calm");
        } else {
            seat.tell("abort");
            seat.worker.wait_exit(crate::BOUND);
            seat.restart();
        }
        arena.bitten += 1;
    }
}

/// What a worker's clock shows does not matter, nor that it goes a tenth too fast or too slow: within a
/// ttl that is less than the margin. Holders die, or are cut off from their renewals.
async fn clocks_that_differ(arena: &mut Arena) {
    for clock in ["ahead 3600", "rate 0.9", "rate 1.1"] {
        arena.seat(TASKS, &[("FAULT_CLOCK", clock)]);
    }
    arena.fleet(1, TASKS);
    for _ in 0..6 {
        let index = arena.holder();
        let seat = &mut arena.seats[index];
        let held = seat.held();
        seat.worker.kill();
        arena.place.taken_over(&held).await;
        arena.seats[index].restart();
        arena.bitten += 1;
    }
    arena.tell_all("hold 1500 renewal to be sent");
    tokio::time::sleep(Duration::from_secs(6)).await;
    arena.tell_all("forget");
    arena.bitten += 4;
}

/// A process that wakes up from a suspend knows by its clock alone.
async fn suspended(arena: &mut Arena) {
    for _ in 0..3 {
        arena.seat(TASKS, &[("FAULT_CLOCK", "suspended")]);
    }
    for _ in 0..6 {
        let seat = &arena.seats[arena.holder()];
        let held = seat.held();
        let from = boottime();
        assert!(seat.tell("suspend 3600000"), "{}", seat.worker.report());
        // By the ledger, which is written every other millisecond.
        eventually(crate::BOUND, || {
            let now = seat.held();
            !held.iter().any(|lease| now.contains(lease))
        });
        assert!(
            boottime() - from < Duration::from_millis(500),
            "it learnt of it late"
        );
        arena.place.taken_over(&held).await;
        arena.bitten += 1;
    }
}

/// Who holds a lease is told by its token, never by a worker's name.
async fn one_name_for_all(arena: &mut Arena) {
    for _ in 0..3 {
        arena.seat(TASKS, &[("TASKLOCK_WORKER_NAME", "worker")]);
    }
    for _ in 0..6 {
        let index = arena.holder();
        let seat = &mut arena.seats[index];
        let held = seat.held();
        seat.worker.kill();
        arena.seats[index].restart();
        arena.place.taken_over(&held).await;
        arena.bitten += 1;
    }
}

/// The same task with a ttl of 5 s in one program and of 60 s in the other: each lease has the length
/// that its own holder counts with.
async fn two_versions(arena: &mut Arena) {
    arena.seat("versioned", &[]);
    arena.seat_of(env!("CARGO_BIN_EXE_fault_worker_60"), "versioned", &[]);
    for _ in 0..4 {
        let index = arena.holder();
        let seat = &arena.seats[index];
        // Long enough for the short lease, and not for the long one.
        seat.pause(Duration::from_millis(5_500)).await;
        arena.bitten += 1;
    }
}
