//! Signals, and what /proc says about those who got them.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::wait;

/// Within this time the kernel stops or continues all threads of a process.
const BOUND: Duration = Duration::from_secs(30);

/// Sends a signal to a process.
///
/// # Panics
///
/// If there is no such process.
#[track_caller]
pub fn signal(pid: i32, signal: Signal) {
    let process = Pid::from_raw(pid).expect("a process id is not 0");
    if let Err(error) = kill_process(process, signal) {
        panic!("cannot send {} to process {pid}: {error}", name(signal));
    }
}

/// `SIGTERM` and so on.
pub(crate) fn name(signal: Signal) -> String {
    format!("{signal:?}")
        .replace("Signal::", "SIG")
        .replace('"', "")
}

/// The states of a process's threads as in /proc: `R` running, `S` sleeping, `T` stopped, `Z`
/// ended … Empty if there is no such process.
pub fn states(pid: i32) -> BTreeSet<char> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return BTreeSet::new();
    };
    threads
        .flatten()
        // A thread can end while we look.
        .filter_map(|thread| fs::read_to_string(thread.path().join("stat")).ok())
        .filter_map(|stat| stat_field(&stat, 0)?.chars().next())
        .collect()
}

/// Whether there is such a process and it has not ended; one that has ended and was not yet waited
/// for by its parent is not alive.
pub fn alive(pid: i32) -> bool {
    states(pid).iter().any(|state| !matches!(state, 'Z' | 'X'))
}

/// Sends SIGSTOP to a process and its children, and waits until all their threads have stopped.
///
/// The parent is stopped first, so that it starts no further child. Grandchildren are not looked
/// for: the servers here have none.
///
/// # Panics
///
/// If there is no such process, or it does not stop.
#[track_caller]
pub fn pause_tree(pid: i32) {
    signal(pid, Signal::STOP);
    until_stopped(pid);
    for child in children(pid) {
        signal_if_there(child, Signal::STOP);
        until_stopped(child);
    }
}

/// Sends SIGCONT to a process and its children, and waits until none of them is stopped.
///
/// # Panics
///
/// If there is no such process, or it does not go on.
#[track_caller]
pub fn continue_tree(pid: i32) {
    for child in children(pid) {
        signal_if_there(child, Signal::CONT);
        until_continued(child);
    }
    signal(pid, Signal::CONT);
    until_continued(pid);
}

#[track_caller]
pub(crate) fn until_stopped(pid: i32) {
    wait::eventually(BOUND, || {
        states(pid)
            .iter()
            .all(|state| matches!(state, 'T' | 'Z' | 'X'))
    });
}

#[track_caller]
pub(crate) fn until_continued(pid: i32) {
    wait::eventually(BOUND, || !states(pid).contains(&'T'));
}

/// A child may have ended by itself.
fn signal_if_there(pid: i32, signal: Signal) {
    if let Some(process) = Pid::from_raw(pid) {
        let _ = kill_process(process, signal);
    }
}

/// The processes whose parent this is.
fn children(pid: i32) -> Vec<i32> {
    let Ok(processes) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|child| {
            fs::read_to_string(format!("/proc/{child}/stat"))
                .is_ok_and(|stat| stat_field(&stat, 1) == Some(&*pid.to_string()))
        })
        .collect()
}

/// A field of /proc/…/stat after the program's name, which stands in parentheses and may contain
/// anything: 0 is the state, 1 the parent.
fn stat_field(stat: &str, index: usize) -> Option<&str> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(index)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_programs_name_may_contain_anything() {
        assert_eq!(stat_field("12 (a) T (b) S 7 8", 0), Some("S"));
        assert_eq!(stat_field("12 (a) T (b) S 7 8", 1), Some("7"));
    }

    #[test]
    fn a_tree_is_paused_and_continued() {
        let script = "sleep 600 & echo; wait";
        let mut parent = Command::new("sh")
            .args(["-c", script])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let pid = parent.id().cast_signed();
        wait::eventually(BOUND, || children(pid).len() == 1);
        let child = children(pid)[0];

        pause_tree(pid);
        assert_eq!(
            (states(pid), states(child)),
            (BTreeSet::from(['T']), BTreeSet::from(['T']))
        );
        continue_tree(pid);
        assert!(!states(pid).contains(&'T') && !states(child).contains(&'T'));

        signal(child, Signal::KILL);
        assert!(parent.wait().is_ok());
        assert!(states(pid).is_empty());
    }

    #[test]
    #[should_panic(expected = "cannot send SIGCONT to process")]
    fn nobody_gets_no_signal() {
        let mut gone = Command::new("true").spawn().unwrap();
        gone.wait().unwrap();
        signal(gone.id().cast_signed(), Signal::CONT);
    }
}
