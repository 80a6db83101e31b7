//! Where it is measured: databases that are made for one measurement, beside the one that the URL names.

mod look;
mod redis;

use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

use ::redis::aio::MultiplexedConnection;
use anyhow::{Context, Result, bail};
use sqlx::{AssertSqlSafe, Connection, MySqlConnection, PgConnection};
use tokio::sync::Mutex;

use crate::store::Store;
pub use look::Look;
pub use redis::{connect, subscribe};

pub struct Place {
    kind: Kind,
    made: Mutex<Vec<String>>,
    /// How many statements this has sent to a server that counts them with all others.
    asked: AtomicI64,
}

/// A connection is to the database of the URL: what is asked on it is not counted in those that are measured.
enum Kind {
    Postgres {
        url: String,
        connection: Box<Mutex<PgConnection>>,
    },
    MariaDb {
        url: String,
        connection: Box<Mutex<MySqlConnection>>,
    },
    Redis {
        url: String,
        connection: MultiplexedConnection,
    },
    Sqlite {
        path: String,
    },
    Nowhere,
}

/// What a server has counted, each with a name; of the whole server where `Store::counts_all`.
pub type Counts = Vec<(&'static str, i64)>;

impl Place {
    pub async fn at(url: Option<&str>) -> Result<Self> {
        let kind = match url {
            None => Kind::Nowhere,
            Some(url) => {
                let own = url.to_owned();
                match Store::of(url)? {
                    Store::Postgres => Kind::Postgres {
                        connection: Box::new(Mutex::new(PgConnection::connect(url).await?)),
                        url: own,
                    },
                    Store::MariaDb => Kind::MariaDb {
                        connection: Box::new(Mutex::new(MySqlConnection::connect(url).await?)),
                        url: own,
                    },
                    Store::Redis => Kind::Redis {
                        connection: redis::connect(url).await?,
                        url: own,
                    },
                    Store::Sqlite => Kind::Sqlite {
                        path: url
                            .trim_start_matches("sqlite:")
                            .trim_start_matches("//")
                            .to_owned(),
                    },
                }
            }
        };
        Ok(Self {
            kind,
            made: Mutex::default(),
            asked: AtomicI64::new(0),
        })
    }

    /// An empty database; its URL. No measurement sees what an earlier one has left.
    pub async fn fresh(&self) -> Result<String> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("tasklock_bench_{}_{number}", std::process::id());
        let create = AssertSqlSafe(format!("CREATE DATABASE {name}"));
        let (made, url) = match &self.kind {
            Kind::Postgres { url, connection } => {
                let mut connection = connection.lock().await;
                sqlx::raw_sql(create).execute(&mut *connection).await?;
                let url = named(url, &name);
                (name, url)
            }
            Kind::MariaDb { url, connection } => {
                let mut connection = connection.lock().await;
                sqlx::raw_sql(create).execute(&mut *connection).await?;
                let url = named(url, &name);
                (name, url)
            }
            Kind::Redis { url, .. } => {
                let url = redis::take_empty(url).await?;
                (url.clone(), url)
            }
            Kind::Sqlite { path } => {
                let file = format!("{path}.{name}");
                let url = format!("sqlite://{file}");
                (file, url)
            }
            Kind::Nowhere => bail!("this measurement has no database"),
        };
        self.made.lock().await.push(made);
        Ok(url)
    }

    /// Removes what was made.
    pub async fn clear(&self) -> Result<()> {
        for made in self.made.lock().await.drain(..) {
            match &self.kind {
                Kind::Postgres { connection, .. } => {
                    let drop = AssertSqlSafe(format!("DROP DATABASE {made} WITH (FORCE)"));
                    let mut connection = connection.lock().await;
                    sqlx::raw_sql(drop).execute(&mut *connection).await?;
                }
                Kind::MariaDb { connection, .. } => {
                    let drop = AssertSqlSafe(format!("DROP DATABASE {made}"));
                    let mut connection = connection.lock().await;
                    sqlx::raw_sql(drop).execute(&mut *connection).await?;
                }
                Kind::Redis { .. } => redis::give_back(&made).await?,
                Kind::Sqlite { .. } => {
                    for end in ["", "-wal", "-shm"] {
                        // What SQLite has removed itself is no mistake.
                        let _ = std::fs::remove_file(format!("{made}{end}"));
                    }
                }
                Kind::Nowhere => {}
            }
        }
        Ok(())
    }

    /// What the server has counted, in that database where it counts by databases; nothing where there is no server.
    pub async fn counts(&self, url: &str) -> Result<Counts> {
        match &self.kind {
            Kind::Postgres { connection, .. } => {
                let committed =
                    "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = $1";
                let name = url
                    .split(['/', '?'])
                    .find(|part| part.starts_with("tasklock_bench_"));
                let name = name.context("it was made here")?;
                let mut connection = connection.lock().await;
                let count = sqlx::query_scalar(committed).bind(name);
                let count = count.fetch_one(&mut *connection).await?;
                Ok(vec![("transactions", count)])
            }
            Kind::MariaDb { connection, .. } => {
                let asked = self.asked.fetch_add(1, Ordering::Relaxed);
                let sent =
                    "SELECT CAST(variable_value AS SIGNED) FROM information_schema.global_status
                    WHERE variable_name = 'QUESTIONS'";
                let mut connection = connection.lock().await;
                let sent: i64 = sqlx::query_scalar(sent).fetch_one(&mut *connection).await?;
                Ok(vec![("statements", sent - asked)])
            }
            Kind::Redis { connection, .. } => redis::counts(connection.clone()).await,
            Kind::Sqlite { .. } | Kind::Nowhere => Ok(Vec::new()),
        }
    }
}

/// By how much each has grown, divided.
pub fn grown(
    before: &[(&'static str, i64)],
    after: &[(&'static str, i64)],
    by: f64,
) -> Vec<(&'static str, f64)> {
    let pairs = before.iter().zip(after);
    pairs
        .map(|((name, before), (_, after))| (*name, (after - before) as f64 / by))
        .collect()
}

/// The URL with another database.
fn named(url: &str, name: &str) -> String {
    let (address, query) = match url.split_once('?') {
        Some((address, query)) => (address, format!("?{query}")),
        None => (url, String::new()),
    };
    let host = address.find("://").map_or(0, |at| at + 3);
    let server = match address[host..].find('/') {
        Some(end) => &address[..host + end],
        None => address,
    };
    format!("{server}/{name}{query}")
}
