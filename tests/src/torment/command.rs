//! What a test tells this process while it runs: a file beside the ledger with one command.
//!
//! | command | |
//! | --- | --- |
//! | `kill STEP`, `stop STEP` | SIGKILL or SIGSTOP to itself at the next passage of this step |
//! | `hold MILLIS STEP` | each passage of this step takes this long |
//! | `forget` | no step is special any more |
//! | `suspend MILLIS` | the machine was suspended (for the clock `suspended`) |
//! | `starve MILLIS` | every thread of the application's runtime is blocked |
//! | `hog MILLIS` | every connection of the application's pool is in use |
//! | `panic` | handlers panic from now on; `calm` ends it |
//! | `finish` | runs that last until then end, and are short from now on |
//! | `linger MILLIS` | jobs that were enqueued last so much longer from now on |
//! | `rest` | nothing is taken by hand any more |
//! | `abort` | the process aborts |

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process};
use rustix::thread::gettid;
use serde_json::json;
use tasklock_runtime::fault::Faults;
use tasklock_test_support::process::emit;

use super::{effect, mistake, recorded, watch};

pub(crate) const THREADS: usize = 2;
const PERIOD: Duration = Duration::from_millis(10);

static ARMED: Mutex<Vec<(Deed, String)>> = Mutex::new(Vec::new());
static IS_ARMED: AtomicBool = AtomicBool::new(false);
static SUSPENDED: AtomicU64 = AtomicU64::new(0);
static PANICKY: AtomicBool = AtomicBool::new(false);
static LINGERING: AtomicU64 = AtomicU64::new(0);
static FINISHING: AtomicBool = AtomicBool::new(false);
static RESTING: AtomicBool = AtomicBool::new(false);

/// What is done at a step.
#[derive(Debug, Clone, Copy)]
enum Deed {
    Kill,
    Stop,
    Hold(Duration),
}

/// The faults of this process.
pub(crate) struct Injected;
pub(crate) static INJECTED: Injected = Injected;

impl Faults for Injected {
    fn at(&self, step: &'static str) {
        at(step);
    }

    fn has(&self, wanted: &'static str) -> bool {
        mistake::is(wanted)
    }

    fn statement(&self, sql: String) -> String {
        recorded(mistake::in_statement(sql))
    }
}

/// A step of the runtime's, or of a handler's.
pub fn at(step: &'static str) {
    if !IS_ARMED.load(Ordering::Acquire) {
        return;
    }
    let mut armed = ARMED.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(index) = armed.iter().position(|(_, name)| name == step) else {
        return;
    };
    let deed = armed[index].0;
    if !matches!(deed, Deed::Hold(_)) {
        armed.remove(index);
    }
    drop(armed);
    match deed {
        Deed::Kill => {
            emit("step", json!({ "step": step }));
            let _ = kill_process(getpid(), Signal::KILL);
            std::thread::sleep(Duration::from_secs(60));
        }
        Deed::Stop => {
            emit("step", json!({ "step": step }));
            // By this thread's number, so that it is the one that takes the signal, before it goes on: by the
            // process's, another takes it when it gets to run, and this step has been passed by then.
            let _ = kill_process(gettid(), Signal::STOP);
        }
        Deed::Hold(time) => std::thread::sleep(time),
    }
}

pub(crate) fn suspended() -> Duration {
    Duration::from_nanos(SUSPENDED.load(Ordering::Acquire))
}

/// Whether handlers shall panic.
pub fn panicky() -> bool {
    PANICKY.load(Ordering::Acquire)
}

/// Whether runs that last shall end.
pub fn finishing() -> bool {
    FINISHING.load(Ordering::Acquire)
}

/// Whether names are left to jobs.
pub(crate) fn resting() -> bool {
    RESTING.load(Ordering::Acquire)
}

/// How many milliseconds jobs that were enqueued shall last longer.
pub fn lingering() -> u64 {
    LINGERING.load(Ordering::Acquire)
}

/// Obeys one command after the other, and says so.
pub(crate) async fn obey() {
    let mut path = watch::path().into_os_string();
    path.push(".command");
    let path = PathBuf::from(path);
    loop {
        if let Ok(text) = std::fs::read_to_string(&path) {
            let _ = std::fs::remove_file(&path);
            emit("obeyed", json!({ "command": text }));
            carry_out(&text);
        }
        tokio::time::sleep(PERIOD).await;
    }
}

fn carry_out(text: &str) {
    let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
    let millis = |text: &str| Duration::from_millis(text.parse().expect("milliseconds"));
    match verb {
        "kill" => arm(Deed::Kill, rest),
        "stop" => arm(Deed::Stop, rest),
        "forget" => {
            ARMED.lock().unwrap_or_else(PoisonError::into_inner).clear();
            IS_ARMED.store(false, Ordering::Release);
        }
        "hold" => {
            let (time, step) = rest.split_once(' ').expect("hold MILLIS STEP");
            arm(Deed::Hold(millis(time)), step);
        }
        "suspend" => {
            let nanos = u64::try_from(millis(rest).as_nanos()).expect("it fits");
            SUSPENDED.fetch_add(nanos, Ordering::AcqRel);
        }
        "starve" => {
            let time = millis(rest);
            for _ in 0..2 * THREADS {
                tokio::spawn(async move { std::thread::sleep(time / 2) });
            }
        }
        "hog" => {
            tokio::spawn(effect::hog(millis(rest)));
        }
        "panic" => PANICKY.store(true, Ordering::Release),
        "calm" => PANICKY.store(false, Ordering::Release),
        "finish" => FINISHING.store(true, Ordering::Release),
        "rest" => RESTING.store(true, Ordering::Release),
        "linger" => LINGERING.store(rest.parse().expect("milliseconds"), Ordering::Release),
        "abort" => std::process::abort(),
        _ => panic!("no such command: {text}"),
    }
}

fn arm(deed: Deed, step: &str) {
    let mut armed = ARMED.lock().unwrap_or_else(PoisonError::into_inner);
    armed.push((deed, step.to_owned()));
    IS_ARMED.store(true, Ordering::Release);
}
