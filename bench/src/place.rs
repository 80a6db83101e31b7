//! Where it is measured: databases that are made for one measurement, beside the one that the URL names.

use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, bail};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tokio::sync::Mutex;

pub struct Place {
    kind: Kind,
    made: Mutex<Vec<String>>,
}

enum Kind {
    /// The connection is to the database of the URL: what is asked on it is not counted in those that are measured.
    Postgres {
        url: String,
        connection: Box<Mutex<PgConnection>>,
    },
    Sqlite {
        path: String,
    },
    Nowhere,
}

impl Place {
    pub async fn at(url: Option<&str>) -> Result<Self> {
        let kind = match url {
            None => Kind::Nowhere,
            Some(url) if is_sqlite(url) => {
                let path = url.trim_start_matches("sqlite:").trim_start_matches("//");
                Kind::Sqlite {
                    path: path.to_owned(),
                }
            }
            Some(url) if url.starts_with("postgres") => Kind::Postgres {
                url: url.to_owned(),
                connection: Box::new(Mutex::new(PgConnection::connect(url).await?)),
            },
            Some(_) => bail!("--url is neither postgres://… nor sqlite:…"),
        };
        Ok(Self {
            kind,
            made: Mutex::default(),
        })
    }

    /// An empty database; its URL. No measurement sees what an earlier one has left.
    pub async fn fresh(&self) -> Result<String> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("tasklock_bench_{}_{number}", std::process::id());
        let (made, url) = match &self.kind {
            Kind::Postgres { url, connection } => {
                let create = AssertSqlSafe(format!("CREATE DATABASE {name}"));
                let mut connection = connection.lock().await;
                sqlx::raw_sql(create).execute(&mut *connection).await?;
                let url = named(url, &name);
                (name, url)
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

    /// What the server has committed in that database; `None` where there is no server.
    pub async fn transactions(&self, url: &str) -> Result<Option<i64>> {
        let Kind::Postgres { connection, .. } = &self.kind else {
            return Ok(None);
        };
        let committed =
            "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = $1";
        let name = url
            .split(['/', '?'])
            .find(|part| part.starts_with("tasklock_bench_"));
        let name = name.context("it was made here")?;
        let mut connection = connection.lock().await;
        let count = sqlx::query_scalar(committed).bind(name);
        Ok(Some(count.fetch_one(&mut *connection).await?))
    }
}

pub fn is_sqlite(url: &str) -> bool {
    url.starts_with("sqlite:")
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

/// A connection to look with at what a system has written.
pub enum Look {
    Postgres(PgConnection),
    Sqlite(SqliteConnection),
}

impl Look {
    pub async fn at(url: &str) -> Result<Self> {
        if !is_sqlite(url) {
            return Ok(Self::Postgres(PgConnection::connect(url).await?));
        }
        let options: SqliteConnectOptions = url.parse()?;
        let options = options.busy_timeout(std::time::Duration::from_secs(10));
        Ok(Self::Sqlite(
            SqliteConnection::connect_with(&options).await?,
        ))
    }

    /// The one value of a query.
    pub async fn number(&mut self, query: &'static str) -> Result<i64> {
        Ok(match self {
            Self::Postgres(connection) => sqlx::query_scalar(query).fetch_one(connection).await?,
            Self::Sqlite(connection) => sqlx::query_scalar(query).fetch_one(connection).await?,
        })
    }

    /// Everything is written that earlier statements have left to be written later, and the tables are analysed: what
    /// is measured next pays for itself alone.
    pub async fn settle(&mut self) -> Result<()> {
        match self {
            Self::Postgres(connection) => {
                for statement in ["VACUUM ANALYZE", "CHECKPOINT"] {
                    sqlx::raw_sql(statement).execute(&mut *connection).await?;
                }
            }
            Self::Sqlite(connection) => {
                for statement in ["ANALYZE", "PRAGMA wal_checkpoint(TRUNCATE)"] {
                    sqlx::raw_sql(statement).execute(&mut *connection).await?;
                }
            }
        }
        Ok(())
    }
}
