//! What a worker has written so far.

use std::io::{BufRead, BufReader, Read};
use std::process::Child;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::Event;

/// Filled by two threads, which end when the worker's output does.
#[derive(Debug, Default)]
pub(super) struct Output {
    seen: Mutex<Seen>,
    news: Condvar,
}

#[derive(Debug, Default)]
struct Seen {
    /// Each with whether it has been taken.
    events: Vec<(Event, bool)>,
    /// How many of standard output and standard error have ended.
    ended: u8,
    stderr: Vec<u8>,
}

impl Output {
    /// Listens to a process whose standard output and standard error are piped.
    pub(super) fn of(child: &mut Child) -> Arc<Output> {
        let output = Arc::new(Output::default());
        if let Some(stdout) = child.stdout.take() {
            let to = Arc::clone(&output);
            thread::spawn(move || to.read_events(stdout));
        }
        if let Some(stderr) = child.stderr.take() {
            let to = Arc::clone(&output);
            thread::spawn(move || to.read_stderr(stderr));
        }
        output
    }

    /// The first match that was not taken yet, waited for; else why there is none.
    pub(super) fn take(
        &self,
        bound: Duration,
        matches: impl Fn(&Event) -> bool,
    ) -> Result<Event, &'static str> {
        let end = Instant::now() + bound;
        let mut seen = self.lock();
        loop {
            let mut events = seen.events.iter_mut();
            if let Some((event, taken)) = events.find(|(event, taken)| !taken && matches(event)) {
                *taken = true;
                return Ok(event.clone());
            }
            if seen.ended == 2 {
                return Err("ended its output");
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err("was silent");
            }
            let waited = self.news.wait_timeout(seen, left);
            seen = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub(super) fn events(&self) -> Vec<Event> {
        let seen = self.lock();
        seen.events.iter().map(|(event, _)| event.clone()).collect()
    }

    pub(super) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.lock().stderr).into_owned()
    }

    fn read_events(&self, from: impl Read) {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        // Bytes, since one bad line must not end the listening.
        while from.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            let text = String::from_utf8_lossy(&line);
            let event = Event::new(text.trim_end_matches(['\r', '\n']).to_owned());
            self.lock().events.push((event, false));
            self.news.notify_all();
            line.clear();
        }
        self.end_one();
    }

    fn read_stderr(&self, mut from: impl Read) {
        let mut bytes = [0; 4096];
        while let Ok(read @ 1..) = from.read(&mut bytes) {
            self.lock().stderr.extend_from_slice(&bytes[..read]);
        }
        self.end_one();
    }

    fn end_one(&self) {
        self.lock().ended += 1;
        self.news.notify_all();
    }

    /// A caller's `matches` may have panicked under the lock; what is in there stays right.
    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
