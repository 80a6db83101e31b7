//! Negative controls: the runtime with a known mistake, or on a clock that breaks an assumption, under a
//! fault that makes it show. The oracle must catch each one; and under the same fault it must find nothing
//! to say of the runtime as it is.

use std::time::Duration;

use tasklock_test_support::process::states;
use tasklock_test_support::wait::try_eventually;

use crate::arena::{Arena, say};
use crate::place::Place;

/// Past the ttl.
const LONG: Duration = Duration::from_millis(1_300);
/// The step is passed within this time, or the round is void.
const SOON: Duration = Duration::from_secs(5);
/// A fault without which nothing would show may miss its moment; a control that is never caught fails.
const TRIES: usize = 3;

type Variables = &'static [(&'static str, &'static str)];

/// Standing tasks.
const STANDING: &str = "a0,a1,s0,s1";
/// Tasks that run on demand; one whose ends keep the row; one whose ends delete it.
const JOBS: &str = "tries,pair,gone";
const PAIR: &str = "pair";
/// Its jobs need a name, which the other worker takes by hand.
const SHARES: &str = "shares";
const GONE: &str = "gone";

/// `controls! { test on places, of tasks: fault, with a mistake => the property that breaks; without it; … }`
macro_rules! controls {
    ($($test:ident on $($place:ident)+, of $tasks:ident: $fault:ident, $with:expr => $property:literal, else $without:expr;)+) => {
        mod caught {
            $(#[test]
            fn $test() {
                std::thread::scope(|scope| {
                    $(scope.spawn(|| $crate::scenario::run(async {
                        if $crate::place::Place::$place().await.is_none() {
                            return;
                        }
                        let name = stringify!($test);
                        let place = async || $crate::place::Place::$place().await.expect("it is there");
                        let mut caught = false;
                        let mut tries = 0;
                        // Whether the two workers meet in the window is up to the machine.
                        while !caught && tries < super::TRIES {
                            let mut arena = super::arena(place().await, super::$tasks, $with).await;
                            super::$fault(&mut arena).await;
                            caught = super::is_caught(arena, name, $property).await;
                            tries += 1;
                        }
                        assert!(caught, "{name} was never caught as {}", $property);
                        let mut arena = super::arena(place().await, super::$tasks, $without).await;
                        super::$fault(&mut arena).await;
                        super::must_be_sound(arena, name, $property).await;
                    }));)+
                });
            })+
        }
    };
}

controls! {
    deadline_from_the_reply on sqlite postgres, of STANDING: a_late_answer_to_a_claim,
        &[("FAULT_MISTAKE", "the deadline is taken from the reply")] => "P3", else &[];
    non_sticky_loss on sqlite postgres, of STANDING: renewals_are_confirmed_late,
        &[("FAULT_MISTAKE", "a late renewal revives the lease")] => "P5", else &[];
    // The local clock would keep a paused handler from its COMMIT; the guard must not need it.
    guard_without_fence on postgres, of STANDING: pauses_before_the_guard,
        &[("FAULT_MISTAKE", "the guard ignores the fence"), ("FAULT_CLOCK", "blind")] => "P4",
        else &[("FAULT_CLOCK", "blind")];
    // There a transaction has the file's lock from its first write on: the pause has to come before it.
    guard_without_fence_in_a_file on sqlite, of STANDING: pauses_without_renewals,
        &[("FAULT_MISTAKE", "the guard ignores the fence"), ("FAULT_CLOCK", "blind")] => "P4",
        else &[("FAULT_CLOCK", "blind")];
    ends_without_fence on sqlite postgres redis, of STANDING: pauses_before_the_end,
        &[("FAULT_MISTAKE", "ends ignore the fence")] => "P6", else &[];
    ends_of_jobs_without_fence on sqlite postgres, of PAIR: pauses_before_the_end_of_jobs,
        &[("FAULT_MISTAKE", "ends ignore the fence")] => "P6", else &[];
    deletes_without_fence on sqlite postgres, of GONE: pauses_before_the_end_of_jobs,
        &[("FAULT_MISTAKE", "ends that delete ignore the fence")] => "P6", else &[];
    // While its only slot is in use, a worker does not take over what was its own before a pause.
    guard_of_the_job_alone on sqlite postgres, of SHARES: pauses_before_an_effect,
        &[("FAULT_MISTAKE", "the guard looks at the job alone"), ("FAULT_CLOCK", "blind"), ("TASKLOCK_CONCURRENCY", "1")] => "P4",
        else &[("FAULT_CLOCK", "blind"), ("TASKLOCK_CONCURRENCY", "1")];
    second_lease_without_renewals on sqlite postgres, of SHARES: runs_outlast_their_ttl,
        &[("FAULT_MISTAKE", "the second lease is not renewed")] => "P3", else &[];
    // Other stores have one writer.
    limit_without_a_lock on postgres, of PAIR: claims_overlap,
        &[("FAULT_MISTAKE", "runs are counted without a lock")] => "Limit", else &[];
    key_of_the_waiting on sqlite postgres, of JOBS: runs_last,
        &[("FAULT_MISTAKE", "a key is free once its job runs")] => "Unique", else &[];
    now_in_a_long_transaction on postgres, of STANDING: a_long_claim,
        &[("FAULT_MISTAKE", "now() in a long transaction")] => "P3", else &[];
    takeover_without_renewals on sqlite postgres redis, of STANDING: time_passes,
        &[("FAULT_MISTAKE", "takeover ignores renewals")] => "P2", else &[];
    // A renewal that comes when the lease has passed on.
    renewals_without_owner on redis, of STANDING: renewals_cease,
        &[("FAULT_MISTAKE", "renewals ignore the owner")] => "P3: a renewal", else &[];
    effects_without_registration on redis, of STANDING: pauses_before_the_guard,
        &[("FAULT_MISTAKE", "effects do not register their fence"), ("FAULT_CLOCK", "blind")] => "P4",
        else &[("FAULT_CLOCK", "blind")];
    clock_without_suspend on sqlite postgres, of STANDING: pauses,
        &[("FAULT_CLOCK", "blind")] => "P3", else &[];
    clock_beyond_the_margin on sqlite postgres, of STANDING: renewals_cease,
        &[("FAULT_CLOCK", "rate 0.6")] => "P3", else &[];
}

async fn arena(place: Place, tasks: &str, variables: Variables) -> Arena {
    if variables
        .iter()
        .any(|(_, value)| *value == "a key is free once its job runs")
    {
        place.run("DROP INDEX tasklock_job_key").await;
        let index = "CREATE UNIQUE INDEX tasklock_job_key ON tasklock_job (task, unique_key)
            WHERE unique_key IS NOT NULL AND state = 'ready'";
        place.run(index).await;
    }
    let mut arena = Arena::new(place);
    let mistake = variables.iter().find(|(name, _)| *name == "FAULT_MISTAKE");
    arena.mistake = mistake.map_or("", |(_, mistake)| mistake);
    let mut first = variables.to_vec();
    if tasks == SHARES {
        // Nobody else has the task: of a worker that is paused only the name is taken.
        first.push(("FAULT_HANDS", ""));
        arena.seat(tasks, &first);
        arena.seat(GONE, &[("FAULT_HANDS", "1")]);
        arena.holder();
        return arena;
    }
    arena.seat(tasks, variables);
    // Who waits on a clock that is slow, too, takes over too late to show it.
    let slow = variables.iter().any(|(_, value)| value.starts_with("rate"));
    arena.seat(tasks, if slow { &[] } else { variables });
    arena.holder();
    arena
}

async fn is_caught(mut arena: Arena, control: &str, property: &str) -> bool {
    let verdict = arena.verdict().await;
    let mut broken = verdict.violations.iter();
    let caught = broken.find(|violation| violation.starts_with(property));
    let found = format!("{} violations", verdict.violations.len());
    let example = caught.map_or("not caught", |caught| caught);
    say(&format!(
        "control {control} on {}: {found}, {property}: {example}",
        arena.place.name()
    ));
    caught.is_some()
}

/// Without the mistake the same fault does not break this property.
async fn must_be_sound(mut arena: Arena, control: &str, property: &str) {
    let verdict = arena.verdict().await;
    let mut broken = verdict.violations.iter();
    let broken = broken.find(|violation| violation.starts_with(property));
    assert_eq!(
        broken,
        None,
        "{control} on {}, without it",
        arena.place.name()
    );
}

/// The first worker gets all jobs while a step of its claim takes nearly a ttl; the other is there again
/// before they expire.
async fn late_claims(arena: &mut Arena, step: &str) {
    let (slow, other) = (&arena.seats[0], &arena.seats[1]);
    assert!(
        slow.tell(&format!("hold 900 {step}")),
        "{}",
        slow.worker.report()
    );
    for _ in 0..4 {
        other.worker.stop();
        let held = other.held();
        arena.place.taken_over_within(2 * LONG, &held).await;
        other.worker.cont();
        tokio::time::sleep(LONG).await;
    }
}

async fn a_late_answer_to_a_claim(arena: &mut Arena) {
    late_claims(arena, "claim answered").await;
}

/// Long after its transaction began; and no renewal comes before the other can look.
async fn a_long_claim(arena: &mut Arena) {
    arena.seats[0].tell("hold 800 renewal to be sent");
    late_claims(arena, "claim begun").await;
}

/// Each passage of a step takes this long.
async fn hold(arena: &mut Arena, millis: u64, step: &str) {
    arena.tell_all(&format!("hold {millis} {step}"));
    tokio::time::sleep(4 * LONG).await;
}

/// The second of two in a row comes after the deadline that the first one gave.
async fn renewals_are_confirmed_late(arena: &mut Arena) {
    hold(arena, 600, "renewal confirmed").await;
}

/// Two count before either has committed what it took.
async fn claims_overlap(arena: &mut Arena) {
    hold(arena, 300, "claim to be committed").await;
}

/// Most jobs run, and few wait.
async fn runs_last(arena: &mut Arena) {
    arena.tell_all("linger 300");
    let keyed = "SELECT count(*) FROM audit WHERE op = 'enter' AND unique_key <> ''";
    arena.place.wait_until_more_than(15, keyed).await;
}

/// Longer than a lease that is not renewed.
async fn runs_outlast_their_ttl(arena: &mut Arena) {
    arena.tell_all("linger 1500");
    tokio::time::sleep(5 * LONG).await;
}

async fn renewals_cease(arena: &mut Arena) {
    hold(arena, 3_000, "renewal to be sent").await;
}

async fn time_passes(_: &mut Arena) {
    tokio::time::sleep(3 * LONG).await;
}

async fn pauses(arena: &mut Arena) {
    for _ in 0..3 {
        arena.seats[arena.holder()].pause(LONG).await;
    }
}

/// No renewal tells the worker what its clock does not.
async fn pauses_without_renewals(arena: &mut Arena) {
    arena.tell_all("hold 2000 renewal to be sent");
    pauses(arena).await;
}

/// Before its transaction begins, which would have a file's lock. The pause lasts until somebody by hand has taken one
/// of the names, and no renewal tells the worker afterwards what its clock does not.
async fn pauses_before_an_effect(arena: &mut Arena) {
    let seat = &arena.seats[0];
    for _ in 0..4 {
        seat.tell("hold 5000 renewal to be sent");
        seat.tell("stop effect to be written");
        let pid = seat.worker.pid();
        let stopped = || states(pid).contains(&'T').then_some(());
        if try_eventually(SOON, stopped).is_some() {
            let taken = arena.place.name_taken_within(SOON, &seat.names()).await;
            seat.tell("forget");
            // Whoever lost it now writes, or is refused.
            if let Some(lease) = taken {
                let told = || (!seat.names().contains(&lease)).then_some(());
                let _ = try_eventually(LONG, told);
            }
        }
        seat.tell("forget");
    }
}

async fn pauses_before_the_guard(arena: &mut Arena) {
    pause_at(arena, "guard to be sent").await;
}

async fn pauses_before_the_end(arena: &mut Arena) {
    pause_at(arena, "lease sealed").await;
}

/// Whoever took the job over still runs it when the other wakes up.
async fn pauses_before_the_end_of_jobs(arena: &mut Arena) {
    arena.tell_all("linger 700");
    pauses_before_the_end(arena).await;
}

/// Stops a worker at a step until the other has taken its jobs.
async fn pause_at(arena: &mut Arena, step: &str) {
    for _ in 0..6 {
        let seat = &arena.seats[arena.holder()];
        if !seat.tell(&format!("stop {step}")) {
            return;
        }
        let pid = seat.worker.pid();
        let stopped = || states(pid).contains(&'T').then_some(());
        if try_eventually(SOON, stopped).is_some() {
            tokio::time::sleep(LONG).await;
            // The other may be late; where this one keeps the file, it cannot come.
            arena.place.left_within(LONG, &seat.name).await;
        }
        seat.tell("forget");
    }
}
