//! Processes that stand still past their leases, anywhere in their work, and wake up beside a new owner.

use std::time::Duration;

use tasklock_test_support::process::{Signal, boottime};

use crate::arena::{Arena, TASKS, say};
use crate::kills::steps_of;

scenarios! {
    stopped_twenty_times on sqlite mysql postgres redis => Overlaps;
    stopped_at_each_step on sqlite mysql postgres redis => Overlaps;
    stopped_shortly on sqlite postgres => Any;
    stopped_in_a_guarded_transaction on mysql postgres => Any;
    stopped_in_a_guarded_transaction_of_the_file on sqlite => Any;
}

/// Past the ttl.
const LONG: Duration = Duration::from_millis(1_300);
/// Less than the margin: nobody may notice.
const SHORT: Duration = Duration::from_millis(150);
/// The server's time-out for a guard, a ttl; a poll interval; and as much again for a busy machine.
const HELD: Duration = Duration::from_secs(4);

async fn stopped_twenty_times(arena: &mut Arena) {
    arena.fleet(2, "a0,a1,s0,s1");
    let mut times = Vec::new();
    let mut attempts = 0;
    while times.len() < 20 {
        attempts += 1;
        assert!(attempts < 100, "{} times only", times.len());
        let seat = &arena.seats[arena.holder()];
        seat.worker.stop();
        let stopped = boottime();
        let held = seat.held();
        // Until the others have everything, so that it is sure to wake up too late. A process that is
        // stopped while it writes to the file keeps it.
        let wakes_late = match arena.place.is_sqlite() {
            false => arena.place.taken_over_within(crate::BOUND, &held).await,
            true => arena.place.taken_over_within(LONG, &held).await,
        };
        if wakes_late && !held.is_empty() {
            times.push(boottime() - stopped);
            arena.bitten += 1;
        }
        tokio::time::sleep(SHORT).await;
        seat.worker.cont();
    }
    times.sort_unstable();
    let at = |index: usize| times[index].as_millis();
    say(&format!(
        "{}: from SIGSTOP to the claim of every job that was held (ttl 1 s), {} times: min {} ms, \
         median {} ms, max {} ms",
        arena.place.name(),
        times.len(),
        at(0),
        at(times.len() / 2),
        at(times.len() - 1)
    ));
}

async fn stopped_at_each_step(arena: &mut Arena) {
    arena.fleet(3, TASKS);
    // One seat is left to take over. A process that stops may keep the file, for its other threads are in
    // the midst of something: then nobody else comes to a step. On Redis that file is the application's.
    let has_file = arena.place.is_sqlite() || arena.place.is_redis();
    let at_once = if has_file { 1 } else { 2 };
    for steps in steps_of(&arena.place).chunks(at_once) {
        // In turn: who was stopped last has no work as yet.
        arena.seats.rotate_left(1);
        for (seat, step) in arena.seats.iter().zip(steps) {
            let told = seat.tell(&format!("stop {step}"));
            assert!(told, "{}", seat.worker.report());
        }
        for (seat, step) in arena.seats.iter().zip(steps) {
            seat.stopped();
            assert_eq!(seat.step().str("step"), Some(*step));
        }
        tokio::time::sleep(LONG).await;
        for seat in &arena.seats[..steps.len()] {
            seat.worker.cont();
        }
        arena.bitten += steps.len();
    }
}

/// Nothing is lost by a pause that is shorter than the margin.
async fn stopped_shortly(arena: &mut Arena) {
    arena.fleet(2, "lasting,a0,a1");
    let lasting = "SELECT fence FROM tasklock_job WHERE task = 'lasting'";
    let fence = arena.place.number(lasting).await;
    for round in 0..20 {
        let seat = &arena.seats[round % 2];
        if !seat.held().is_empty() {
            arena.bitten += 1;
        }
        seat.worker.stop();
        tokio::time::sleep(SHORT).await;
        seat.worker.cont();
        tokio::time::sleep(SHORT / 3).await;
    }
    assert_eq!(arena.place.number(lasting).await, fence, "it was lost");
    arena.tell_all("finish");
}

/// Between the guard and its COMMIT: the server ends the transaction, somebody else takes over, and the
/// COMMIT fails.
async fn stopped_in_a_guarded_transaction(arena: &mut Arena) {
    arena.fleet(2, "a0,s0");
    for _ in 0..4 {
        let index = arena.holder();
        let seat = &arena.seats[index];
        assert!(seat.tell("stop guard held"), "{}", seat.worker.report());
        // The other one stands still until then: whoever ran last is the first to know what is due next, and may
        // leave nothing to this one.
        let other = &arena.seats[1 - index];
        other.worker.try_signal(Signal::STOP);
        seat.stopped();
        other.worker.try_signal(Signal::CONT);
        seat.step();
        let stopped = boottime();
        let held = seat.held();
        // All of them, also the one whose row was locked by the guard: for a ttl.
        arena.place.taken_over(&held).await;
        let took = boottime() - stopped;
        assert!(took < HELD, "the row was held for {took:?}");
        seat.worker.cont();
        arena.bitten += 1;
    }
}

/// There the file has one lock, and no server that ends a transaction: everybody waits. When the process
/// wakes up, its COMMIT succeeds, for nobody can have taken over.
async fn stopped_in_a_guarded_transaction_of_the_file(arena: &mut Arena) {
    arena.fleet(2, "a0,s0");
    let claims = "SELECT count(*) FROM audit WHERE op = 'acquire'";
    for _ in 0..4 {
        let index = arena.holder();
        let seat = &arena.seats[index];
        assert!(seat.tell("stop guard held"), "{}", seat.worker.report());
        seat.stopped();
        seat.step();
        let before = arena.place.number(claims).await;
        tokio::time::sleep(LONG).await;
        assert_eq!(
            arena.place.number(claims).await,
            before,
            "a claim passed the lock"
        );
        seat.worker.cont();
        arena.bitten += 1;
    }
}
