//! Nothing that a test process has started outlives it.

use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use tasklock_test_support::embedded_only;
use tasklock_test_support::process::{Event, Signal, Worker, alive};
use tasklock_test_support::temp::TempDir;
use tasklock_test_support::wait::eventually;

const BOUND: Duration = Duration::from_secs(60);

struct Held {
    holder: Worker,
    worker: Event,
    servers: Event,
    /// Where the holder's temporary folders are.
    folder: TempDir,
}

/// Another test process, so to speak, that holds a worker, a server of its own, and the server that
/// its tests share. `None` if this run has no servers.
fn hold() -> Option<Held> {
    if embedded_only() {
        return None;
    }
    let folder = TempDir::new();
    // The server's user must be able to enter it.
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(folder.path(), open).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tasklock-test-holder"));
    command
        .env_remove("TASKLOCK_TEST_POSTGRES_URL")
        .env("TMPDIR", folder.path());
    let holder = Worker::spawn(&mut command);
    let worker = holder.wait_for(BOUND, |event| event.is("worker"));
    let servers = holder.wait_for(BOUND, |event| event.is("servers"));
    let held = Held {
        holder,
        worker,
        servers,
        folder,
    };
    assert_eq!(
        held.left(),
        [true; 5],
        "all of it is there while it is held"
    );
    Some(held)
}

impl Held {
    /// Whether the worker, the server's process, its port, the shared server's port, and the
    /// folders are there.
    fn left(&self) -> [bool; 5] {
        let alive = |event: &Event| {
            let pid = event.u64("pid").unwrap().try_into().unwrap();
            alive(pid)
        };
        let listening =
            |field| TcpStream::connect(address(self.servers.str(field).unwrap())).is_ok();
        let folders = std::fs::read_dir(self.folder.path())
            .unwrap()
            .next()
            .is_some();
        [
            alive(&self.worker),
            alive(&self.servers),
            listening("own"),
            listening("shared"),
            folders,
        ]
    }

    #[track_caller]
    fn nothing_is_left(&self) {
        eventually(BOUND, || self.left() == [false; 5]);
    }
}

fn address(url: &str) -> &str {
    url.rsplit_once('@').unwrap().1.split('/').next().unwrap()
}

#[test]
fn nothing_outlives_a_killed_test_process() {
    let Some(held) = hold() else { return };
    held.holder.kill();
    held.nothing_is_left();
}

#[test]
fn nothing_outlives_an_interrupted_test_process() {
    let Some(held) = hold() else { return };
    held.holder.interrupt();
    held.nothing_is_left();
}

#[test]
fn not_even_a_stopped_server_outlives_its_test_process() {
    let Some(held) = hold() else { return };
    let server = held.servers.u64("pid").unwrap().try_into().unwrap();
    tasklock_test_support::process::signal(server, Signal::STOP);
    held.holder.kill();
    held.nothing_is_left();
}

#[test]
fn tests_without_servers_say_what_they_leave_out() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tasklock-test-holder"));
    let holder = Worker::spawn(command.env("TASKLOCK_TEST_EMBEDDED_ONLY", "1"));
    holder.wait_for(BOUND, |event| event.is("left-out"));
    assert!(holder.wait_exit(BOUND).success());
    assert_eq!(
        holder
            .stderr()
            .matches("left out: tests on PostgreSQL")
            .count(),
        1
    );
}
