//! A SQLite file that goes away under its workers: SQLite would go on in it, where nobody sees its leases.

use std::fs;
use std::path::PathBuf;

use tasklock_test_support::process::Worker;
use tasklock_test_support::sqlite;
use tasklock_test_support::wait::eventually;

use crate::support::{BOUND, Place, beside, start_of, worker};

#[tokio::test]
async fn a_lease_in_a_deleted_file_is_lost_and_no_empty_file_comes_in_its_place() {
    let _turn = beside().await;
    let file = sqlite::file();
    let holder = worker(&file.url(), "hold", &[]);
    start_of(&holder);
    delete(&file);
    is_told(&holder, &["store_unreachable"]);
    holder.term();
    assert!(holder.wait_exit(BOUND).success(), "{}", holder.report());
    let left: Vec<PathBuf> = fs::read_dir(file.folder())
        .expect("the folder is there")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// By one with tables of its own: the task starts there at once, in whichever process.
#[tokio::test]
async fn a_lease_in_a_replaced_file_is_lost() {
    let _turn = beside().await;
    let (file, other) = (sqlite::file(), Place::sqlite());
    let holder = worker(&file.url(), "hold", &[]);
    start_of(&holder);
    let store = other.store().await;
    store.migrate().await.expect("the folder can be written");
    store.close().await;
    let Place::Sqlite(other) = &other else {
        unreachable!("it was made above");
    };
    delete(&file);
    fs::rename(other.path(), file.path()).expect("both are in one file system");
    let other = worker(&file.url(), "hold", &[]);
    // The heartbeat opens the new file, most likely, which knows of no such lease.
    is_told(&holder, &["taken_over", "store_unreachable"]);
    let starts = || {
        let events = [holder.events(), other.events()].concat();
        events.iter().filter(|event| event.is("start")).count()
    };
    eventually(BOUND, || starts() == 2);
}

/// With what SQLite has put beside it.
fn delete(file: &sqlite::File) {
    fs::remove_file(file.path()).expect("a worker has made it");
    for suffix in ["-wal", "-shm"] {
        let mut path = file.path().as_os_str().to_owned();
        path.push(suffix);
        fs::remove_file(path).expect("a worker has it open");
    }
}

#[track_caller]
fn is_told(holder: &Worker, reasons: &[&str]) {
    let end = holder.wait_for(BOUND, |event| event.is("end"));
    let lost = end.str("lost");
    assert!(
        reasons.iter().any(|reason| lost == Some(*reason)),
        "{}",
        end.line
    );
    eventually(BOUND, || {
        let said = holder.stderr();
        said.contains("tasklock.db") && said.contains("deleted or replaced")
    });
}
