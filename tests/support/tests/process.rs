//! Workers are listened to, get signals, and end with their test.

use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::Duration;

use tasklock_test_support::process::{Worker, alive, boottime, states};
use tasklock_test_support::wait::eventually;

const BOUND: Duration = Duration::from_secs(30);

fn sh(script: &str) -> Worker {
    Worker::spawn(Command::new("sh").args(["-c", script]))
}

#[test]
fn each_event_is_waited_for_once_in_any_order() {
    let worker = sh(r#"echo '{"event":"run","n":1}'; echo plain
        echo '{"event":"run","n":2}'; echo '{"event":"end"}'"#);
    assert!(
        worker
            .wait_for(BOUND, |event| event.is("end"))
            .str("n")
            .is_none()
    );
    assert_eq!(
        worker.wait_for(BOUND, |event| event.is("run")).u64("n"),
        Some(1)
    );
    assert_eq!(
        worker.wait_for(BOUND, |event| event.is("run")).u64("n"),
        Some(2)
    );
    assert_eq!(
        worker
            .wait_for(BOUND, |event| event.line.contains("lai"))
            .line,
        "plain"
    );
    assert_eq!(worker.events().len(), 4);
    assert!(worker.wait_exit(BOUND).success());
}

#[test]
#[should_panic(expected = "was silent: sh (process")]
fn silence_is_bounded() {
    sh("exec sleep 600").wait_for(Duration::from_millis(50), |_| true);
}

#[test]
fn a_failed_wait_shows_everything_that_was_said_and_ends_early() {
    let worker = sh("echo only this; echo an error >&2; exit 3");
    let waiting = std::panic::AssertUnwindSafe(|| worker.wait_for(BOUND * 100, |e| e.is("start")));
    let panic = std::panic::catch_unwind(waiting).unwrap_err();
    let message = panic.downcast_ref::<String>().unwrap();
    for part in ["ended its output", "only this", "an error"] {
        assert!(message.contains(part), "{part:?} is not in: {message}");
    }
    assert_eq!(worker.wait_exit(BOUND).code(), Some(3));
}

#[test]
fn a_stopped_worker_is_silent_until_it_is_continued() {
    let worker = sh("while echo tick; do sleep 0.01; done");
    worker.wait_for(BOUND, |_| true);
    worker.stop();
    assert_eq!(states(worker.pid()), ['T'].into());
    worker.cont();
    let before = worker.events().len();
    eventually(BOUND, || worker.events().len() > before + 3);
    assert_eq!(worker.kill().signal(), Some(9));
}

#[test]
fn a_stopped_worker_can_be_killed() {
    let worker = sh("exec sleep 600");
    worker.stop();
    assert_eq!(worker.kill().signal(), Some(9));
    assert_eq!(
        worker.kill().signal(),
        Some(9),
        "killing twice does no harm"
    );
}

#[test]
fn terminate_and_interrupt_are_told_apart() {
    let script = "trap 'echo term' TERM; trap 'echo int; exit 0' INT; echo ready
        while :; do sleep 0.01; done";
    let worker = sh(script);
    worker.wait_for(BOUND, |event| event.line == "ready");
    worker.term();
    worker.wait_for(BOUND, |event| event.line == "term");
    assert!(worker.ended().is_none());
    worker.interrupt();
    assert!(worker.wait_exit(BOUND).success());
    worker.wait_for(BOUND, |event| event.line == "int");
}

#[test]
#[should_panic(expected = "SIGTERM comes too late, it has ended with exit status: 0")]
fn a_signal_to_one_that_has_ended_is_a_mistake() {
    let worker = sh("true");
    worker.wait_exit(BOUND);
    worker.term();
}

#[test]
#[should_panic(expected = "did not end within")]
fn a_worker_that_goes_on_is_reported() {
    sh("exec sleep 600").wait_exit(Duration::from_millis(50));
}

#[test]
fn a_dropped_worker_takes_along_what_it_started() {
    let worker = sh("sleep 600 & echo $!; wait");
    let child: i32 = worker.wait_for(BOUND, |_| true).line.parse().unwrap();
    assert!(alive(child));
    drop(worker);
    eventually(BOUND, || !alive(child));
}

#[test]
#[should_panic(expected = "cannot start /no/such/program")]
fn a_missing_program_is_named() {
    Worker::spawn(&mut Command::new("/no/such/program"));
}

#[test]
fn emitted_events_carry_the_time() {
    let before = boottime();
    let mut holder = Command::new(env!("CARGO_BIN_EXE_tasklock-test-holder"));
    let worker = Worker::spawn(holder.env("TASKLOCK_TEST_EMBEDDED_ONLY", "1"));
    let event = worker.wait_for(BOUND, |event| event.is("worker"));
    assert!(event.u64("pid").is_some());
    assert!(
        event
            .boottime()
            .is_some_and(|time| time > before && time < boottime())
    );
    assert!(worker.wait_exit(BOUND).success());
}
