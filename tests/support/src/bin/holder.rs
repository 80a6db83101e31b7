//! Holds servers and a worker until it is killed. This crate's own tests do that, and look whether
//! anything is left.

use std::process::Command;

use serde_json::json;
use tasklock_test_support::process::{Worker, emit};
use tasklock_test_support::server::{Kind, Server};
use tasklock_test_support::{mysql, postgres, redis, sqlite};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let worker = Worker::spawn(Command::new("sleep").arg("600"));
    emit("worker", json!({"pid": worker.pid()}));
    let held = tokio::join!(
        hold::<sqlx::Postgres>(async || Some(postgres::database().await?.url().to_owned())),
        hold::<sqlx::MySql>(async || Some(mysql::database().await?.url().to_owned())),
        hold::<redis::Redis>(async || Some(redis::place().await?.url().to_owned())),
    );
    let (Some(_postgres), Some(_mysql), Some(_redis)) = held else {
        emit("left-out", json!({"file": sqlite::file().url()}));
        return;
    };
    // Held until the process is killed.
    std::future::pending::<()>().await;
}

/// A server of its own, and the shared one.
async fn hold<K: Kind>(shared: impl AsyncFnOnce() -> Option<String>) -> Option<Server<K>> {
    let own = Server::<K>::start().await?;
    let shared = shared().await?;
    emit(
        "servers",
        json!({"kind": K::SCRIPT, "pid": own.pid(), "own": own.url(), "shared": shared}),
    );
    Some(own)
}
