//! What a worker says when it cannot start: one error that names what, and no secret.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::Command;

use tasklock_test_support::postgres;
use tasklock_test_support::process::Worker;
use tasklock_test_support::sqlite;

use crate::support::{BOUND, Place, beside, started, worker};

const SECRET: &str = "hunter2s3cret";

on_both! {
    beside: missing_tables_are_named,
    beside: tables_of_a_newer_version_are_refused,
}

async fn missing_tables_are_named(place: Place) {
    place.run("CREATE TABLE somebody_elses (x bigint)").await;
    let worker = worker(&place.url(), "hold", &[("TASKLOCK_MIGRATE", "false")]);
    refuses(&worker, &["tables are missing", "migrate(true)"]);
}

async fn tables_of_a_newer_version_are_refused(place: Place) {
    let store = place.store().await;
    store.migrate().await.expect("the database is empty");
    store.close().await;
    place
        .run("INSERT INTO tasklock_migration (version, oldest_compatible) VALUES (99, 98)")
        .await;
    for migrate in ["true", "false"] {
        let worker = worker(&place.url(), "hold", &[("TASKLOCK_MIGRATE", migrate)]);
        refuses(&worker, &["version 99", "newer build"]);
    }
}

#[tokio::test]
async fn an_unreachable_server_is_named() {
    let _turn = beside().await;
    let url = format!("postgres://me:{SECRET}@127.0.0.1:1/app");
    refuses(&worker(&url, "hold", &[]), &["127.0.0.1:1", "refused"]);
}

#[tokio::test]
async fn a_wrong_password_is_not_shown() {
    let _turn = beside().await;
    let Some(database) = postgres::database().await else {
        return;
    };
    let (login, rest) = database.url().split_once('@').expect("it has a login");
    let (user, _) = login.rsplit_once(':').expect("it has a password");
    let url = format!("{user}:{SECRET}@{rest}");
    let worker = worker(&url, "hold", &[]);
    refuses(&worker, &["check user and password", database.name()]);
}

#[tokio::test]
async fn a_missing_folder_is_named() {
    let _turn = beside().await;
    let file = sqlite::file();
    let url = format!("sqlite://{}/none/of.db", file.folder().display());
    refuses(
        &worker(&url, "hold", &[]),
        &["none/of.db", "the file and its folder exist"],
    );
}

/// A mistyped path must not become an empty database.
#[tokio::test]
async fn a_missing_file_is_not_created_where_migration_is_off() {
    let _turn = beside().await;
    let file = sqlite::file();
    let migrate = ("TASKLOCK_MIGRATE", "false");
    let expected = ["cannot open", "the file and its folder exist"];
    refuses(&worker(&file.url(), "hold", &[migrate]), &expected);
    assert!(!file.path().exists(), "it was created");
}

#[tokio::test]
async fn a_file_that_cannot_be_written_is_named() {
    let _turn = beside().await;
    let place = Place::sqlite();
    let store = place.store().await;
    store.migrate().await.expect("the folder can be written");
    store.close().await;
    let Place::Sqlite(file) = &place else {
        unreachable!("it was opened above");
    };
    let set = |mode| fs::Permissions::from_mode(mode);
    // The file, then its folder as well.
    fs::set_permissions(file.path(), set(0o444)).expect("it is ours");
    refuses(&unprivileged(&file.url()), &["tasklock.db", "permissions"]);
    fs::set_permissions(file.folder(), set(0o555)).expect("it is ours");
    refuses(&unprivileged(&file.url()), &["tasklock.db"]);
    fs::set_permissions(file.folder(), set(0o755)).expect("it is ours");
}

/// A worker that is held to permissions, which root is not.
fn unprivileged(url: &str) -> Worker {
    let program = env!("CARGO_BIN_EXE_main_job_worker");
    let mut command = Command::new(program);
    started(&mut command, url, "hold");
    let me = fs::metadata("/proc/self").expect("this is Linux").uid();
    if me != 0 {
        return Worker::spawn(&mut command);
    }
    // Nobody may not be able to enter the folder where it was built.
    let beside = sqlite::file();
    let copy = beside.folder().join("worker");
    fs::copy(program, &copy).expect("there is room for a copy");
    let mut command = Command::new(&copy);
    started(&mut command, url, "hold").uid(65_534).gid(65_534);
    let worker = Worker::spawn(&mut command);
    worker.wait_exit(BOUND);
    worker
}

#[tokio::test]
async fn an_unknown_scheme_is_named() {
    let _turn = beside().await;
    let url = format!("oracle://me:{SECRET}@host/app");
    let known = [
        "oracle",
        "TASKLOCK_DATABASE_URL",
        "postgres://",
        "sqlite://",
    ];
    refuses(&worker(&url, "hold", &[]), &known);
}

#[tokio::test]
async fn an_option_that_cannot_be_read_is_named() {
    let _turn = beside().await;
    for (name, value, say) in [
        ("TASKLOCK_POLL_INTERVAL", "5M", "5m"),
        ("TASKLOCK_CONCURRENCY", "many", "a number"),
        ("TASKLOCK_MIGRATE", "perhaps", "true or false"),
        ("TASKLOCK_ONLY", "hold,hodl", "hodl"),
    ] {
        let place = Place::sqlite();
        let worker = worker(&place.url(), "hold", &[(name, value)]);
        let named = if name == "TASKLOCK_ONLY" { say } else { name };
        refuses(&worker, &[named, say]);
    }
}

/// It ends soon, with one error that says these things.
#[track_caller]
fn refuses(worker: &Worker, says: &[&str]) {
    let status = worker.wait_exit(BOUND);
    assert_eq!(status.code(), Some(1), "{}", worker.report());
    // Complete: the output of a process that has ended is read to its end.
    tasklock_test_support::wait::eventually(BOUND, || worker.stderr().contains("Error: "));
    let said = worker.stderr();
    for part in says {
        assert!(said.contains(part), "{part:?} is not in: {said}");
    }
    assert!(!said.contains(SECRET), "{said}");
    // One sentence for people, not a structure of ours.
    assert!(said.starts_with("Error: "), "{said}");
    assert!(!said.contains("Error {"), "{said}");
    assert_eq!(said.matches("Error: ").count(), 1, "{said}");
}
