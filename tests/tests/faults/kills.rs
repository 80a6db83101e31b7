//! Processes that die: between any two steps, again and again, by signal or by their own hand.

use std::time::Duration;

use tasklock_test_support::process::boottime;

use crate::arena::{Arena, TASKS, say};
use crate::place::Place;

scenarios! {
    killed_at_each_step on sqlite mysql postgres redis => Never;
    killed_twenty_times on sqlite mysql postgres redis => Never;
}

/// Every step after which a crash leaves something else behind.
pub(crate) const STEPS: [&str; 19] = [
    "claim to be sent",
    "claim begun",
    "due rows claimed",
    "claim to be committed",
    "claim answered",
    "lease kept",
    "run to start",
    "effect written",
    "guard to be sent",
    "guard held",
    "guarded transaction committed",
    "mid-run",
    "run ended",
    "lease sealed",
    "end to be committed",
    "end committed",
    "end written",
    "renewal to be sent",
    "renewal confirmed",
];

/// Those that this store has.
pub(crate) fn steps_of(place: &Place) -> Vec<&'static str> {
    let mut steps = STEPS.to_vec();
    // One script looks, locks and writes.
    steps.retain(|step| !place.is_redis() || *step != "due rows claimed");
    steps
}

async fn killed_at_each_step(arena: &mut Arena) {
    arena.fleet(3, TASKS);
    for steps in steps_of(&arena.place).chunks(3) {
        for (seat, step) in arena.seats.iter().zip(steps) {
            assert!(
                seat.tell(&format!("kill {step}")),
                "{}",
                seat.worker.report()
            );
        }
        for (seat, step) in arena.seats.iter_mut().zip(steps) {
            assert_eq!(seat.step().str("step"), Some(*step));
            seat.worker.wait_exit(crate::BOUND);
            seat.restart();
        }
        arena.bitten += steps.len();
    }
}

/// The ttl, a poll interval, and what the other fleets on this machine may cost: `main_job::killed`, alone on
/// it, has no more than the first two.
const MOST: Duration = Duration::from_millis(1_000 + 1_000 + 3_000);

async fn killed_twenty_times(arena: &mut Arena) {
    arena.fleet(2, "a0,s0");
    let mut times = Vec::new();
    for _ in 0..20 {
        let index = arena.holder();
        let seat = &mut arena.seats[index];
        let held = seat.held();
        seat.worker.kill();
        let killed = boottime();
        // It may have ended a run in the very last moment.
        let held: Vec<_> = held
            .into_iter()
            .filter(|lease| seat.held().contains(lease))
            .collect();
        arena.place.taken_over(&held).await;
        times.push(boottime() - killed);
        arena.seats[index].restart();
        arena.bitten += 1;
    }
    times.sort_unstable();
    assert!(times[19] <= MOST, "{times:?}");
    say(&format!(
        "{}: from SIGKILL to the next claim of every job that was held (ttl 1 s), 20 times: min {} ms, \
         median {} ms, max {} ms",
        arena.place.name(),
        times[0].as_millis(),
        times[10].as_millis(),
        times[19].as_millis()
    ));
}
