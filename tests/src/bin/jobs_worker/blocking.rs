//! Handlers that are plain functions.

use std::thread;
use std::time::Duration;

use tasklock_runtime::{LeaseContext, Payload, TaskResult, locked_task};
use tasklock_test_support::process::boottime;
use tasklock_tests::stage::{nothing, say};

use crate::say_start;

/// A blocked thread is what is tested here.
const STEP: Duration = Duration::from_millis(10);

/// Hears of the wish to stop, and ends some time later.
#[locked_task(ttl = "1s")]
fn drains(lease: LeaseContext, _number: Payload<i64>) -> TaskResult {
    say_start(&lease);
    while !lease.is_shutting_down() {
        thread::sleep(STEP);
    }
    let until = boottime() + Duration::from_secs(2);
    while boottime() < until {
        lease.check()?;
        thread::sleep(STEP);
    }
    say("end", &lease, nothing());
    Ok(())
}

/// Goes on for long after the wish to stop; says when its lease is lost.
#[locked_task(ttl = "2s")]
fn goes_on(lease: LeaseContext, _number: Payload<i64>) {
    say_start(&lease);
    while !lease.is_shutting_down() {
        thread::sleep(STEP);
    }
    let until = boottime() + Duration::from_secs(12);
    while lease.check().is_ok() && boottime() < until {
        thread::sleep(STEP);
    }
    say("lost", &lease, nothing());
    while boottime() < until {
        thread::sleep(STEP);
    }
    say("end", &lease, nothing());
}

/// Runs until its lease is lost.
#[locked_task(ttl = "2s", timeout = "500ms", retries = 1, backoff = "100ms..200ms")]
fn overruns(lease: LeaseContext, _number: Payload<i64>) -> TaskResult {
    say_start(&lease);
    while lease.check().is_ok() {
        thread::sleep(STEP);
    }
    say("lost", &lease, nothing());
    lease.check()?;
    Ok(())
}
