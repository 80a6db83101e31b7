//! Nothing that a test process has started outlives it.

use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use tasklock_test_support::embedded_only;
use tasklock_test_support::process::{Event, Signal, Worker, alive};
use tasklock_test_support::temp::TempDir;
use tasklock_test_support::wait::eventually;

const BOUND: Duration = Duration::from_secs(60);

const KINDS: [&str; 3] = ["postgres", "mariadb", "redis"];

struct Held {
    holder: Worker,
    worker: Event,
    /// One of each kind.
    servers: Vec<Event>,
    /// Where the holder's temporary folders are.
    folder: TempDir,
}

/// Another test process, so to speak, that holds a worker, and of each kind a server of its own and
/// the server that its tests share. `None` if this run has no servers.
fn hold() -> Option<Held> {
    if embedded_only() {
        return None;
    }
    let folder = TempDir::new();
    // The server's user must be able to enter it.
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(folder.path(), open).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tasklock-test-holder"));
    for kind in ["POSTGRES", "MYSQL", "REDIS"] {
        command.env_remove(format!("TASKLOCK_TEST_{kind}_URL"));
    }
    command.env("TMPDIR", folder.path());
    let holder = Worker::spawn(&mut command);
    let worker = holder.wait_for(BOUND, |event| event.is("worker"));
    let server = |kind| {
        holder.wait_for(BOUND, |event| {
            event.is("servers") && event.str("kind") == Some(kind)
        })
    };
    let servers = KINDS.map(server).into();
    let held = Held {
        holder,
        worker,
        servers,
        folder,
    };
    let left = held.left();
    assert!(
        left.iter().all(|(_, left)| *left),
        "all of it is there while it is held: {left:?}"
    );
    Some(held)
}

impl Held {
    /// Whether the worker, the servers' processes, their ports, the shared servers' ports, and the
    /// folders are there.
    fn left(&self) -> Vec<(&'static str, bool)> {
        let alive = |event: &Event| {
            let pid = event.u64("pid").unwrap().try_into().unwrap();
            alive(pid)
        };
        let folders = std::fs::read_dir(self.folder.path())
            .unwrap()
            .next()
            .is_some();
        let mut left = vec![("worker", alive(&self.worker)), ("folders", folders)];
        for servers in &self.servers {
            let listening =
                |field| TcpStream::connect(address(servers.str(field).unwrap())).is_ok();
            left.extend([
                ("process", alive(servers)),
                ("own", listening("own")),
                ("shared", listening("shared")),
            ]);
        }
        left
    }

    #[track_caller]
    fn nothing_is_left(&self) {
        eventually(BOUND, || self.left().iter().all(|(_, left)| !left));
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
fn not_even_stopped_servers_outlive_their_test_process() {
    let Some(held) = hold() else { return };
    for servers in &held.servers {
        let server = servers.u64("pid").unwrap().try_into().unwrap();
        tasklock_test_support::process::signal(server, Signal::STOP);
    }
    held.holder.kill();
    held.nothing_is_left();
}

#[test]
fn tests_without_servers_say_what_they_leave_out() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tasklock-test-holder"));
    let holder = Worker::spawn(command.env("TASKLOCK_TEST_EMBEDDED_ONLY", "1"));
    holder.wait_for(BOUND, |event| event.is("left-out"));
    assert!(holder.wait_exit(BOUND).success());
    for product in ["PostgreSQL", "MariaDB", "Redis"] {
        let said = format!("left out: tests on {product}\n");
        assert_eq!(holder.stderr().matches(&said).count(), 1, "{product}");
    }
}
