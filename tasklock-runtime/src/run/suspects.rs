//! Jobs that have taken workers down, or were there when others did.
//!
//! A crash does not say which of the runs of its process has made it: it is counted for all of them. They
//! expire together, and would be taken over together, by one worker, which the culprit takes down again: each
//! of them would be dead as poison, the innocent ones too. So the later half of the crashes that a job may
//! have (`max_crashes`) it has to itself: with more than that it is a **suspect**, and a worker takes over
//! one suspect at a time. The next one follows when that has ended, or has lasted for as long as its ttl:
//! long runs that some outages have hit must not wait for each other.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;

use super::alarm::Alarm;
use crate::store::Claim;
use crate::task::Definition;

/// Who is on trial in this process.
#[derive(Debug)]
pub(super) struct Suspects {
    seat: Arc<Semaphore>,
    alarm: Arc<Alarm>,
}

impl Suspects {
    pub(super) fn new(alarm: Arc<Alarm>) -> Self {
        Self {
            seat: Arc::new(Semaphore::new(1)),
            alarm,
        }
    }

    /// How many may be taken over.
    pub(super) fn room(&self) -> usize {
        self.seat.available_permits()
    }

    /// What a claim has to stand, if it is a suspect's.
    pub(super) fn trial(&self, task: &Definition, claim: &Claim) -> Option<Trial> {
        // The takeover itself is counted by now.
        if !claim.takeover || claim.crashes <= task.suspect_from() {
            return None;
        }
        let seat = Arc::clone(&self.seat).try_acquire_owned().ok();
        Some(Trial {
            seat,
            alarm: Arc::clone(&self.alarm),
            length: task.timing().ttl,
        })
    }
}

/// While it lasts, no other suspect is taken over.
#[derive(Debug)]
pub(super) struct Trial {
    seat: Option<OwnedSemaphorePermit>,
    alarm: Arc<Alarm>,
    length: Duration,
}

impl Drop for Trial {
    fn drop(&mut self) {
        self.seat = None;
        self.alarm.now();
    }
}

/// Makes a run, the first part of it on trial; a trial that is left then lasts until the end is written.
pub(super) async fn tried<T>(
    mut run: Pin<&mut impl Future<Output = T>>,
    trial: &mut Option<Trial>,
) -> T {
    let length = match trial {
        Some(trial) => trial.length,
        None => return run.await,
    };
    tokio::select! {
        biased;
        ended = &mut run => return ended,
        () = sleep(length) => *trial = None,
    }
    run.await
}
