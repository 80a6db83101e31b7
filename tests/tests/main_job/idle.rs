//! A worker that has nothing to do leaves the database alone.

use std::process::Command;
use std::time::Duration;

use tasklock_test_support::postgres::Server;
use tasklock_test_support::process::{Worker, boottime};
use tasklock_test_support::stats::{sessions, settled_transactions, transactions};

use crate::support::{BOUND, cpu, print, ready, started};
use tasklock_tests::stage::database::Database;

/// Sessions hand their counts over after ten seconds of idling.
const SETTLE: Duration = Duration::from_secs(12);
const WATCH: Duration = Duration::from_secs(21);

#[tokio::test]
async fn an_idle_worker_with_fifty_tasks_asks_seldom() {
    // It waits for no turn: it neither disturbs the others nor is disturbed by them.
    let Some(server) = Server::start().await else {
        return;
    };
    // It would count a few transactions of its own.
    let mut root = Database::connect(server.url())
        .await
        .expect("the server is there");
    root.run("ALTER SYSTEM SET autovacuum = off")
        .await
        .expect("its superuser may");
    root.run("SELECT pg_reload_conf()")
        .await
        .expect("its superuser may");

    let database = server.database().await;
    let names: Vec<String> = (0..50).map(|n| format!("idle_{n:02}")).collect();
    let mut command = Command::new(env!("CARGO_BIN_EXE_many_tasks"));
    let worker = Worker::spawn(started(&mut command, database.url(), &names.join(",")));
    ready(&worker);
    // Idling is what is measured: there is no event to wait for.
    tokio::time::sleep(SETTLE).await;
    let (from, before, used) = (boottime(), transactions(&database).await, cpu(&worker));
    tokio::time::sleep(WATCH).await;
    let (passed, used) = (boottime() - from, cpu(&worker) - used);
    let open = sessions(&database).await;
    worker.term();
    assert!(worker.wait_exit(BOUND).success(), "{}", worker.report());
    // With the end of its sessions every count is in, those of the end itself included.
    let done = settled_transactions(&database, BOUND).await - before;
    assert!(worker.events().is_empty(), "{}", worker.report());
    let rate = done as f64 / passed.as_secs_f64();
    assert!(rate <= 0.3, "{done} transactions in {passed:?}");
    print(&format!(
        "postgres: idle with 50 tasks: {rate:.2} transactions/s ({done} in {passed:.1?}, its stop \
         included), {open} sessions, {used:?} of processor time"
    ));
}
