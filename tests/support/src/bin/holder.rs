//! Holds a server and a worker until it is killed. This crate's own tests do that, and look whether
//! anything is left.

use std::process::Command;

use serde_json::json;
use tasklock_test_support::postgres::{Server, database};
use tasklock_test_support::process::{Worker, emit};
use tasklock_test_support::sqlite;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let worker = Worker::spawn(Command::new("sleep").arg("600"));
    emit("worker", json!({"pid": worker.pid()}));
    match (Server::start().await, database().await) {
        (Some(own), Some(shared)) => {
            emit(
                "servers",
                json!({"pid": own.pid(), "own": own.url(), "shared": shared.url()}),
            );
            // Held until the process is killed.
            std::future::pending::<()>().await;
        }
        _ => emit("left-out", json!({"file": sqlite::file().url()})),
    }
}
