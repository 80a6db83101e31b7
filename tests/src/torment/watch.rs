//! Two threads that look at every lease of the process, whatever the handlers do: one checks it all the
//! time, also long after its loss; the other is the canary, which does what nobody should: it checks,
//! and some time later has an effect that nothing guards.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use super::ledger::{Field, Ledger, Record};
use super::names;
use tasklock_runtime::LeaseContext;
use tasklock_test_support::process::boottime;

/// How often each lease is checked.
const PERIOD: Duration = Duration::from_millis(2);
/// From the canary's check to its effect: far less than a margin.
const FLIGHT: Duration = Duration::from_millis(15);
/// A longer flight is a pause: a busy machine did not run the thread.
const PROMPT: Duration = Duration::from_millis(100);
/// How long a lost lease is looked at.
const AFTERLIFE: Duration = Duration::from_secs(2);

static LEDGER: OnceLock<Ledger> = OnceLock::new();
static WATCHED: Mutex<Vec<Arc<Run>>> = Mutex::new(Vec::new());

/// A run that is watched.
#[derive(Debug)]
pub struct Run {
    lease: LeaseContext,
    record: Record,
    /// Of its second lease: one belief for both.
    second: Option<Record>,
    acknowledged: Mutex<u64>,
}

pub(crate) fn path() -> PathBuf {
    PathBuf::from(std::env::var_os("FAULT_LEDGER").expect("the test names the ledger"))
}

pub(crate) fn start() {
    let ledger = Ledger::create(&path()).expect("the ledger can be made");
    LEDGER.get_or_init(|| ledger);
    thread::spawn(check);
    thread::spawn(canary);
}

fn ledger() -> &'static Ledger {
    LEDGER.get().expect("it was made at the start")
}

impl Run {
    /// Watches a lease from now on.
    pub fn begin(lease: &LeaseContext) -> Arc<Self> {
        let owner = lease.owner().as_str();
        let by_hand = names::number(lease.task());
        let second = lease.resource().zip(lease.resource_fence());
        let run = Arc::new(Self {
            lease: lease.clone(),
            record: ledger().begin(lease.job_id(), lease.fence(), owner, by_hand),
            second: second
                .map(|(name, fence)| ledger().begin(0, fence, owner, names::number(name))),
            acknowledged: Mutex::new(0),
        });
        watched().push(Arc::clone(&run));
        run
    }

    /// A guarded transaction was acknowledged.
    pub(crate) fn acknowledge(&self, completed: bool) {
        let mut count = self
            .acknowledged
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *count += 1;
        self.set(Field::Acknowledged, *count);
        if completed {
            ledger().set(self.record, Field::Completed, 1);
        }
    }

    fn set(&self, field: Field, value: u64) {
        for record in std::iter::once(self.record).chain(self.second) {
            ledger().set(record, field, value);
        }
    }
}

fn watched() -> std::sync::MutexGuard<'static, Vec<Arc<Run>>> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn check() {
    // Each run with the moment of its loss.
    let mut runs: Vec<(Arc<Run>, Option<Duration>)> = Vec::new();
    loop {
        let known = runs.len();
        for run in watched().iter().skip(known) {
            runs.push((Arc::clone(run), None));
        }
        for (run, lost) in &mut runs {
            let before = boottime();
            let nanos = u64::try_from(before.as_nanos()).expect("it fits");
            match (run.lease.check(), &lost) {
                (Ok(()), None) => run.set(Field::LastOk, nanos),
                (Ok(()), Some(_)) => {
                    run.set(Field::Revived, nanos);
                    run.set(Field::LastOk, nanos);
                }
                (Err(_), None) => {
                    run.set(Field::FirstLost, nanos);
                    *lost = Some(before);
                }
                (Err(_), Some(_)) => {}
            }
        }
        let now = boottime();
        let mut watched = watched();
        // Both lists have the same runs in the same order, but for new ones at the end.
        let over = |lost: Option<Duration>| lost.is_some_and(|lost| now > lost + AFTERLIFE);
        let mut index = 0;
        watched.retain(|_| {
            let keep = runs.get(index).is_none_or(|(_, lost)| !over(*lost));
            index += 1;
            keep
        });
        runs.retain(|(_, lost)| !over(*lost));
        drop(watched);
        thread::sleep(PERIOD);
    }
}

fn canary() {
    loop {
        let runs: Vec<Arc<Run>> = watched().iter().map(Arc::clone).collect();
        let from = boottime();
        let held: Vec<Arc<Run>> = runs
            .into_iter()
            .filter(|run| run.lease.check().is_ok())
            .collect();
        thread::sleep(FLIGHT);
        for run in held {
            let nanos = u64::try_from(boottime().as_nanos()).expect("it fits");
            run.set(Field::LastCanary, nanos);
            if boottime() - from < PROMPT {
                run.set(Field::PromptCanary, nanos);
            }
        }
    }
}
