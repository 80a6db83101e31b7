//! A database that belongs to one test, on whatever kind of server.

use std::marker::PhantomData;
use std::time::Duration;

use sqlx::{ConnectOptions, Connection};

use crate::fresh;
use crate::server::{self, Kind};
use crate::url;

/// A test's own statements are answered within this time, or the server is as good as gone.
const ANSWER: Duration = Duration::from_secs(30);

/// A kind of server that has databases.
pub trait Sql: Kind + sqlx::Database {
    /// Makes a database, with options in the kind's own words.
    fn create(
        connection: &mut Self::Connection,
        name: &str,
        options: &str,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;

    /// Drops a database, whoever is still connected to it.
    fn remove(
        connection: &mut Self::Connection,
        name: &str,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
}

/// A fresh, empty database, dropped with this handle, whoever is still connected to it.
///
/// A test process that is killed leaves its databases on a server that is not thrown away; their
/// names begin with `tasklock_test_`.
#[derive(Debug)]
pub struct Database<K: Sql> {
    name: String,
    url: String,
    server: String,
    /// If the server is thrown away soon, its databases need not be dropped.
    outlived: bool,
    kind: PhantomData<K>,
}

impl<K: Sql> Database<K> {
    /// A fresh one on the server that all tests of this process share. `None` with
    /// `TASKLOCK_TEST_EMBEDDED_ONLY`.
    ///
    /// # Panics
    ///
    /// If there is no server, or it refuses; the message says what is missing.
    pub async fn fresh() -> Option<Database<K>> {
        Database::on_shared_server("").await
    }

    pub(crate) async fn on_shared_server(options: &str) -> Option<Database<K>> {
        let server = server::shared_url::<K>().await?;
        Some(Database::create(server, true, options).await)
    }

    pub(crate) async fn create(server: &str, outlived: bool, options: &str) -> Database<K> {
        let name = format!("tasklock_test_{}", fresh::name());
        let creating = async {
            let mut connection = connect::<K>(server).await?;
            answered(K::create(&mut connection, &name, options)).await?;
            connection.close().await
        };
        if let Err(error) = creating.await {
            panic!(
                "cannot create the database {name} on the test server {}: {error}; is it the one \
                 that {} names, and may its user create databases?",
                url::redacted(server),
                K::URL_VARIABLE
            );
        }
        let url = url::with_database(server, &name);
        Database {
            name,
            url,
            server: server.to_owned(),
            outlived,
            kind: PhantomData,
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
    pub async fn connect(&self) -> K::Connection {
        match connect::<K>(&self.url).await {
            Ok(connection) => connection,
            Err(error) => panic!("cannot connect to the test database {}: {error}", self.name),
        }
    }

    /// A connection to [`server_url`](Database::server_url).
    ///
    /// # Panics
    ///
    /// If that fails.
    pub async fn connect_beside(&self) -> K::Connection {
        match connect::<K>(&self.server).await {
            Ok(connection) => connection,
            Err(error) => panic!("cannot connect to the server of {}: {error}", self.name),
        }
    }
}

impl<K: Sql> Drop for Database<K> {
    fn drop(&mut self) {
        if !self.outlived {
            return;
        }
        let (server, name) = (self.server.clone(), self.name.clone());
        fresh::remove(&format!("the test database {name}"), async move {
            let mut connection = connect::<K>(&server).await?;
            answered(K::remove(&mut connection, &name)).await?;
            connection.close().await
        });
    }
}

async fn connect<K: Sql>(url: &str) -> Result<K::Connection, sqlx::Error> {
    let options: <K::Connection as Connection>::Options = url.parse()?;
    answered(options.disable_statement_logging().connect()).await
}

async fn answered<T>(
    answer: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, sqlx::Error> {
    let late = |_| sqlx::Error::Protocol(format!("no answer within {ANSWER:?}"));
    tokio::time::timeout(ANSWER, answer).await.map_err(late)?
}
