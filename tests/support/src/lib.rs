//! What tasklock's tests stand on: real servers, real processes, a network that can fail.
//!
//! | module | gives a test |
//! | --- | --- |
//! | [`postgres`] | a fresh database on the shared server, or a whole server of its own to stop, restart and pause |
//! | [`mysql`] | the same for MariaDB |
//! | [`redis`] | a fresh place on the shared Redis server, or a whole server of its own |
//! | [`server`], [`database`] | what these have in common |
//! | [`sqlite`] | a database file in a folder that is removed afterwards |
//! | [`process`] | worker processes: their JSON lines as events, and every signal |
//! | [`proxy`] | a TCP proxy that delays, loses, resets, refuses and cuts |
//! | [`stats`] | what a database did, counted by the server itself |
//! | [`wait`] | the one place that polls |
//!
//! Tests wait for signals: an event, a reply, an exit. Where the system has none,
//! [`wait::eventually`] polls a condition up to a bound. Bounds exist to fail a broken test; no
//! test may need one to pass.
//!
//! Nothing that is started here outlives the test process, even if that is killed: each server and
//! each worker has a guardian process that waits for the end of a pipe which only the test process
//! holds, and cleans up then.

pub mod database;
pub mod mysql;
pub mod postgres;
pub mod process;
pub mod proxy;
pub mod redis;
pub mod server;
pub mod sqlite;
pub mod stats;
pub mod temp;
pub mod wait;

mod fresh;
mod throwaway;
mod url;

/// Whether this run leaves out every test that needs a server (`scripts/test --embedded-only`
/// sets `TASKLOCK_TEST_EMBEDDED_ONLY=1`).
pub fn embedded_only() -> bool {
    std::env::var("TASKLOCK_TEST_EMBEDDED_ONLY").is_ok_and(|value| !matches!(&*value, "" | "0"))
}

/// Says on standard error, once a process, that tests of `what` are left out.
pub(crate) fn say_left_out(what: &'static str) {
    static SAID: std::sync::Mutex<Vec<&str>> = std::sync::Mutex::new(Vec::new());
    let mut said = SAID.lock().expect("no holder panics");
    if !said.contains(&what) {
        said.push(what);
        // Not eprintln: the test harness would swallow it for tests that pass.
        let line = format!("TASKLOCK_TEST_EMBEDDED_ONLY is set: left out: tests on {what}\n");
        let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
    }
}
