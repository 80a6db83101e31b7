//! Every fault at once, at random, over many names in parallel: each worker of a fleet has a tormentor
//! of its own, who hurts it again and again, and others torment the store. One seed, which is printed,
//! draws all of it: with `TASKLOCK_FAULTS_SEED` the same faults come again in the same order for each
//! worker (when they hit is up to the machine).
//!
//! In a test run it is short. `scripts/soak` makes it long: it sets `TASKLOCK_SOAK_SECONDS`.

use std::collections::BTreeMap;
use std::time::Duration;

use tasklock_test_support::postgres::Stop;
use tasklock_test_support::process::{Signal, boottime};
use tasklock_test_support::proxy::Mode;
use tasklock_test_support::wait::try_eventually;

use crate::arena::{Arena, say};
use crate::contention::sabotage;
use crate::draw::Draw;
use crate::kills::STEPS;
use crate::place::Place;
use crate::scenario::run;
use crate::seat::Seat;

/// In a test run.
const SECONDS: u64 = 30;
const WORKERS: usize = 5;
const TASKS: &str = "a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,s0,s1,s2,s3,s4,s5,s6,s7,s8,s9,ships,tries,pair,gone,shares,pushes";

#[test]
fn sqlite() {
    soaked(Place::sqlite());
}

#[test]
fn postgres() {
    soaked(Place::postgres_server());
}

#[test]
fn mysql() {
    soaked(Place::mysql_server());
}

#[test]
fn redis() {
    soaked(Place::redis());
}

fn soaked(place: impl Future<Output = Option<Place>>) {
    run(async {
        if let Some(place) = place.await {
            soak(place).await;
        }
    });
}

/// What can be done to one worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    Kill,
    KillAtStep,
    Stop,
    StopAtStep,
    StopShortly,
    Terminate,
    Abort,
    Panics,
    Starve,
    Hog,
    Suspend,
    Delay,
    HoldUp,
    LoseReplies,
    LoseRequests,
    Cut,
    Reset,
    Refuse,
}

/// Those that need a network come last.
const FAULTS: [Fault; 18] = [
    Fault::Kill,
    Fault::KillAtStep,
    Fault::Stop,
    Fault::StopAtStep,
    Fault::StopShortly,
    Fault::Terminate,
    Fault::Abort,
    Fault::Panics,
    Fault::Starve,
    Fault::Hog,
    Fault::Suspend,
    Fault::Delay,
    Fault::HoldUp,
    Fault::LoseReplies,
    Fault::LoseRequests,
    Fault::Cut,
    Fault::Reset,
    Fault::Refuse,
];
const WITHOUT_A_NETWORK: usize = 11;

/// How many of each kind there were, and how many of them bit.
type Counts = BTreeMap<String, (usize, usize)>;

async fn soak(place: Place) {
    let seconds = std::env::var("TASKLOCK_SOAK_SECONDS").map_or(SECONDS, |text| {
        text.parse().expect("TASKLOCK_SOAK_SECONDS is a number")
    });
    let mut arena = Arena::new(place);
    let seed = arena.seed;
    say(&format!(
        "soak on {}: {seconds} s, TASKLOCK_FAULTS_SEED={seed}",
        arena.place.name()
    ));
    for _ in 0..WORKERS {
        arena.seat(TASKS, &[("FAULT_CLOCK", "suspended")]);
    }
    arena.holder();
    let until = boottime() + Duration::from_secs(seconds);

    let seats = std::mem::take(&mut arena.seats);
    let tormentors = seats.into_iter().zip(1..).map(|(seat, number)| {
        let draw = Draw::new(seed.wrapping_add(number << 32));
        tokio::spawn(torment(seat, draw, until))
    });
    let tormentors: Vec<_> = tormentors.collect();
    let mut counts = store_faults(&arena.place, Draw::new(seed), until).await;
    for tormentor in tormentors {
        let (seat, more) = tormentor.await.expect("a tormentor does not fail");
        arena.seats.push(seat);
        arena.seats.iter_mut().for_each(Seat::revive);
        for (kind, (made, bit)) in more {
            let count = counts.entry(kind).or_default();
            *count = (count.0 + made, count.1 + bit);
        }
    }
    for (kind, (made, bit)) in &counts {
        say(&format!(
            "soak on {}: {kind}: {made}, of which bit {bit}",
            arena.place.name()
        ));
    }
    arena.bitten = counts.values().map(|(_, bit)| bit).sum();
    say(
        "| scenario | store | faults that bit | overlaps of guarded runs | of the canary | jobs lost \
         | takeover after expiry: median / most (number) | least early-loss margin |",
    );
    let is_redis = arena.place.is_redis();
    let verdict = arena.settle("soak", crate::arena::Canary::Overlaps).await;
    assert!(verdict.names > 0, "nobody took a name");
    let jobs = verdict.jobs;
    let fates = [jobs.done, jobs.gone];
    let has_all = !fates.contains(&0) && (jobs.rolled_back > 0) != is_redis;
    assert!(has_all, "too few orders: {jobs:?}");
    say(&format!(
        "soak: no violation with TASKLOCK_FAULTS_SEED={seed}"
    ));
}

/// Hurts one worker until the time is over.
async fn torment(mut seat: Seat, mut draw: Draw, until: Duration) -> (Seat, Counts) {
    let mut counts = Counts::new();
    let faults: &[Fault] = match seat.proxy {
        Some(_) => &FAULTS,
        None => &FAULTS[..WITHOUT_A_NETWORK],
    };
    while boottime() < until {
        let fault = draw.one_of(faults);
        // Drawn whether they are needed or not, so that a seed means the same on each run.
        let (step, spice) = (draw.one_of(&STEPS), draw.below(1_000));
        let bit = inflict(&mut seat, fault, step, spice).await;
        let count = counts.entry(format!("{fault:?}")).or_default();
        *count = (count.0 + 1, count.1 + usize::from(bit));
        tokio::time::sleep(Duration::from_millis(draw.below(400))).await;
    }
    (seat, counts)
}

/// Past a ttl, mostly.
fn long(spice: u64) -> Duration {
    Duration::from_millis(700 + spice)
}

/// One fault, and its end; whether it hit a process that held a lease.
async fn inflict(seat: &mut Seat, fault: Fault, step: &str, spice: u64) -> bool {
    seat.revive();
    // A fault that hits nobody shows nothing; but a worker may have no work for a while.
    let holding = || (!seat.held().is_empty()).then_some(());
    let holds = tokio::task::block_in_place(|| try_eventually(long(spice), holding)).is_some();
    let ends = match fault {
        Fault::Kill => {
            seat.worker.kill();
            true
        }
        Fault::Abort => {
            seat.tell("abort");
            true
        }
        Fault::Terminate => {
            seat.worker.try_signal(Signal::TERM);
            true
        }
        Fault::KillAtStep => {
            seat.tell(&format!("kill {step}"));
            // A step that is not passed in time is given up, and the process with it.
            tokio::time::sleep(long(spice)).await;
            seat.worker.kill();
            true
        }
        Fault::StopAtStep => {
            seat.tell(&format!("stop {step}"));
            tokio::time::sleep(2 * long(spice)).await;
            seat.tell("forget");
            false
        }
        Fault::Stop => {
            seat.pause(long(spice)).await;
            false
        }
        Fault::StopShortly => {
            seat.pause(Duration::from_millis(spice / 5)).await;
            false
        }
        Fault::Panics => {
            seat.tell("panic");
            tokio::time::sleep(long(spice) / 2).await;
            seat.tell("calm");
            false
        }
        Fault::Starve => {
            seat.tell("starve 1500");
            tokio::time::sleep(Duration::from_millis(1_500)).await;
            false
        }
        Fault::Hog => {
            seat.tell("hog 1000");
            tokio::time::sleep(Duration::from_millis(1_000)).await;
            false
        }
        Fault::Suspend => {
            seat.tell("suspend 60000");
            false
        }
        Fault::Delay => net(seat, Mode::delay(Duration::from_millis(spice / 12)), spice).await,
        Fault::HoldUp => net(seat, Mode::Hold, spice).await,
        Fault::LoseReplies => net(seat, Mode::LoseReplies, spice).await,
        Fault::LoseRequests => net(seat, Mode::LoseRequests, spice).await,
        Fault::Refuse => net(seat, Mode::Refuse, spice).await,
        Fault::Cut => net(seat, Mode::CutReplies { after: spice }, spice).await,
        Fault::Reset => net(seat, Mode::Pass, 0).await,
    };
    if ends {
        tokio::task::block_in_place(|| seat.worker.wait_exit(crate::BOUND));
        seat.restart();
    }
    holds
}

async fn net(seat: &Seat, mode: Mode, spice: u64) -> bool {
    let proxy = seat.proxy.as_ref().expect("there is a proxy");
    if mode == Mode::Refuse {
        proxy.reset_all();
    }
    if mode != Mode::Pass {
        proxy.set(mode);
        tokio::time::sleep(long(spice)).await;
        proxy.set(Mode::Pass);
    }
    if !matches!(mode, Mode::Delay { .. } | Mode::Hold) {
        proxy.reset_all();
    }
    false
}

/// Hurts the store: a saboteur at the rows, and now and then an outage for everybody.
async fn store_faults(place: &Place, mut draw: Draw, until: Duration) -> Counts {
    let mut counts = Counts::new();
    let mut database = place.connect().await;
    while boottime() < until {
        let pause = Duration::from_millis(1_000 + draw.below(1_000));
        tokio::time::sleep(pause).await;
        let kind = match (draw.below(8), place.server()) {
            (0, Some(server)) => {
                server.restart(Stop::Immediate).await;
                database = place.connect().await;
                "store restarted"
            }
            (1, Some(server)) => {
                server.pause().await;
                tokio::time::sleep(Duration::from_millis(draw.below(1_500))).await;
                server.resume().await;
                "store frozen"
            }
            (0 | 1, None) => {
                if database.run("BEGIN IMMEDIATE").await.is_ok() {
                    tokio::time::sleep(Duration::from_millis(draw.below(1_500))).await;
                    let _ = database.run("ROLLBACK").await;
                }
                "file locked"
            }
            _ => {
                sabotage(&mut database, &mut draw).await;
                match place.is_redis() {
                    true => "an operator's commands",
                    false => "rows locked",
                }
            }
        };
        let count = counts.entry(kind.into()).or_default();
        *count = (count.0 + 1, count.1 + 1);
    }
    counts
}
