//! One worker process.

use std::fmt::Write as _;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use super::guardian::Guardian;
use super::output::Output;
use super::{Event, signal};
use crate::wait;

/// A process killed with SIGKILL ends within this time.
const KILL_BOUND: Duration = Duration::from_secs(30);

/// A running program whose lines on standard output are events.
///
/// On drop it is killed, and so is what it has started. The same happens if the test process dies.
#[derive(Debug)]
pub struct Worker {
    label: String,
    pid: i32,
    process: Mutex<Process>,
    output: Arc<Output>,
}

#[derive(Debug)]
struct Process {
    child: Child,
    /// Present as long as a process of the group may be alive.
    guardian: Option<Guardian>,
}

impl Worker {
    /// Starts a program, with the arguments and variables of this command, and listens to it. It
    /// gets no input.
    ///
    /// # Panics
    ///
    /// If it cannot be started.
    #[track_caller]
    pub fn spawn(command: &mut Command) -> Worker {
        command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => panic!("cannot start {program}: {error}; is it built?"),
        };
        let pid = child.id().cast_signed();
        let guardian = Some(Guardian::of(group(pid)));
        let output = Output::of(&mut child);
        let label = format!("{program} (process {pid})");
        Worker {
            label,
            pid,
            process: Mutex::new(Process { child, guardian }),
            output,
        }
    }

    /// Its process id.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// The first event that matches and that no earlier wait has returned; waits for it if there is
    /// none yet.
    ///
    /// # Panics
    ///
    /// If none comes within `bound`, or the program's output ends before. The message shows
    /// everything that the program has said.
    #[track_caller]
    pub fn wait_for(&self, bound: Duration, matches: impl Fn(&Event) -> bool) -> Event {
        match self.output.take(bound, matches) {
            Ok(event) => event,
            Err(why) => panic!(
                "waited up to {bound:?} for an event, but it {why}: {}",
                self.report()
            ),
        }
    }

    /// All events so far, whether a wait has returned them or not.
    pub fn events(&self) -> Vec<Event> {
        self.output.events()
    }

    /// What it has written to standard error so far.
    pub fn stderr(&self) -> String {
        self.output.stderr()
    }

    /// Everything that is known about it, for a test's own messages.
    pub fn report(&self) -> String {
        let mut report = format!("{}, events:\n", self.label);
        for event in self.events() {
            let _ = writeln!(report, "  {}", event.line);
        }
        let _ = write!(report, "standard error:\n{}", self.stderr());
        report
    }

    /// Sends any signal.
    ///
    /// # Panics
    ///
    /// If it has ended.
    #[track_caller]
    pub fn signal(&self, signal: Signal) {
        // Locked, so that the id cannot be freed, and be another's, in between.
        let mut process = self.process();
        if let Ok(Some(status)) = process.child.try_wait() {
            drop(process);
            let name = signal::name(signal);
            panic!(
                "{name} comes too late, it has ended with {status}: {}",
                self.report()
            );
        }
        signal::signal(self.pid, signal);
    }

    /// Sends any signal, unless it has ended; whether it had not.
    pub fn try_signal(&self, signal: Signal) -> bool {
        // Locked, as above.
        let mut process = self.process();
        let alive = matches!(process.child.try_wait(), Ok(None));
        if alive {
            signal::signal(self.pid, signal);
        }
        alive
    }

    /// SIGTERM.
    ///
    /// # Panics
    ///
    /// If it has ended.
    #[track_caller]
    pub fn term(&self) {
        self.signal(Signal::TERM);
    }

    /// SIGINT, as Ctrl-C sends it.
    ///
    /// # Panics
    ///
    /// If it has ended.
    #[track_caller]
    pub fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    /// SIGSTOP; returns when every thread has stopped.
    ///
    /// # Panics
    ///
    /// If it has ended.
    #[track_caller]
    pub fn stop(&self) {
        self.signal(Signal::STOP);
        signal::until_stopped(self.pid);
    }

    /// SIGCONT; returns when no thread is stopped any more.
    ///
    /// # Panics
    ///
    /// If it has ended.
    #[track_caller]
    pub fn cont(&self) {
        self.signal(Signal::CONT);
        signal::until_continued(self.pid);
    }

    /// SIGKILL; returns when it is dead. What it has started goes on.
    #[track_caller]
    pub fn kill(&self) -> ExitStatus {
        // An error means that it has ended already.
        let _ = self.process().child.kill();
        self.wait_exit(KILL_BOUND)
    }

    /// Waits until it ends by itself.
    ///
    /// # Panics
    ///
    /// If it does not within `bound`. The message shows everything that the program has said.
    #[track_caller]
    pub fn wait_exit(&self, bound: Duration) -> ExitStatus {
        match wait::try_eventually(bound, || self.ended()) {
            Some(status) => status,
            None => panic!("it did not end within {bound:?}: {}", self.report()),
        }
    }

    /// How it ended; `None` while it runs. Does not wait.
    pub fn ended(&self) -> Option<ExitStatus> {
        let mut process = self.process();
        let status = process
            .child
            .try_wait()
            .expect("a child can be waited for")?;
        // If nothing of the group is left, its number may soon be another's.
        if test_kill_process_group(group(self.pid)).is_err() {
            process.guardian = None;
        }
        Some(status)
    }

    fn process(&self) -> MutexGuard<'_, Process> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let group = group(self.pid);
        let mut process = self.process();
        if process.guardian.is_some() {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = process.child.wait();
        process.guardian = None;
    }
}

/// The group in which a worker and what it starts are; it has the worker's number.
fn group(pid: i32) -> Pid {
    Pid::from_raw(pid).expect("a process id is not 0")
}
