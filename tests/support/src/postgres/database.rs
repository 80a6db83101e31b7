//! A database that belongs to one test.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{process, thread};

use sqlx::postgres::PgConnection;

use super::{KIND, URL_VARIABLE, connect, execute, wanted};
use crate::throwaway::Throwaway;
use crate::url;

/// A fresh, empty database, dropped with this handle, whoever is still connected to it.
///
/// A test process that is killed leaves its databases on a server that is not thrown away; their
/// names begin with `tasklock_test_`.
#[derive(Debug)]
pub struct Database {
    name: String,
    url: String,
    server: String,
    /// If the server is thrown away soon, its databases need not be dropped.
    outlived: bool,
}

/// A fresh database on the shared server. `None` with `TASKLOCK_TEST_EMBEDDED_ONLY`.
///
/// # Panics
///
/// If there is no server, or it refuses; the message says what is missing.
pub async fn database() -> Option<Database> {
    on_shared_server("").await
}

/// Like [`database`], in an encoding other than UTF-8, such as `LATIN1`.
///
/// # Panics
///
/// As [`database`].
pub async fn database_in(encoding: &str) -> Option<Database> {
    on_shared_server(&format!("encoding '{encoding}' locale 'C'")).await
}

async fn on_shared_server(options: &str) -> Option<Database> {
    wanted()?;
    let server = tokio::task::spawn_blocking(shared_server)
        .await
        .expect("it does not panic");
    match server {
        Ok(url) => Some(Database::create(url, true, options).await),
        Err(why) => panic!(
            "no PostgreSQL server for the tests: {why}. Run scripts/test, which installs what is \
             missing; or set {URL_VARIABLE} to a running server, or TASKLOCK_TEST_EMBEDDED_ONLY=1 \
             to leave such tests out"
        ),
    }
}

/// The URL of the server that all tests of this process share.
fn shared_server() -> Result<&'static str, &'static str> {
    // Never dropped: it ends with its input, which ends with this process.
    static SHARED: OnceLock<Result<(String, Option<Throwaway>), String>> = OnceLock::new();
    let shared = SHARED.get_or_init(|| match std::env::var(URL_VARIABLE) {
        Ok(url) if !url.is_empty() => Ok((url, None)),
        _ => {
            let mut throwaway = Throwaway::prepare(KIND)?;
            Ok((throwaway.start()?.url, Some(throwaway)))
        }
    });
    shared.as_ref().map(|(url, _)| &**url).map_err(|why| &**why)
}

impl Database {
    pub(super) async fn create(server: &str, outlived: bool, options: &str) -> Database {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // Two runs on one server, perhaps in two containers, may have the same process id.
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!(
            "tasklock_test_{}_{:x}_{number}",
            process::id(),
            now.as_micros()
        );
        // template0, since nobody can be connected to it, which would fail this.
        let statement = format!("create database {name} template template0 {options}");
        if let Err(error) = execute(server, statement).await {
            panic!(
                "cannot create the database {name} on the test server {}: {error}; is it the one \
                 that {URL_VARIABLE} names, and may its user create databases?",
                url::redacted(server)
            );
        }
        let url = url::with_database(server, &name);
        Database {
            name,
            url,
            server: server.to_owned(),
            outlived,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The URL of another database of the same server: to look at this one without being counted
    /// in it.
    pub fn server_url(&self) -> &str {
        &self.server
    }

    /// A connection to it.
    ///
    /// # Panics
    ///
    /// If that fails.
    pub async fn connect(&self) -> PgConnection {
        match connect(&self.url).await {
            Ok(connection) => connection,
            Err(error) => panic!("cannot connect to the test database {}: {error}", self.name),
        }
    }

    /// A connection to [`server_url`](Database::server_url).
    ///
    /// # Panics
    ///
    /// If that fails.
    pub async fn connect_beside(&self) -> PgConnection {
        match connect(&self.server).await {
            Ok(connection) => connection,
            Err(error) => panic!("cannot connect to the server of {}: {error}", self.name),
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if !self.outlived {
            return;
        }
        // A thread, since a drop can neither wait in the test's runtime nor start one inside it.
        let (server, name) = (self.server.clone(), self.name.clone());
        let dropping = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            let statement = format!("drop database if exists {name} with (force)");
            runtime.block_on(execute(&server, statement))
        });
        match dropping.join() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => eprintln!("the test database {} is left: {error}", self.name),
            Err(_) => eprintln!("the test database {} is left", self.name),
        }
    }
}
