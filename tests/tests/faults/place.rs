//! The database of one scenario.

use std::time::Duration;

use tasklock_runtime::store::{Options, Source, connect};
use tasklock_test_support::wait::{eventually_async, try_eventually_async};
use tasklock_test_support::{mysql, postgres, redis, sqlite};

use super::BOUND;
use super::server::AnyServer;
use crate::database::{Database, Rows};

/// A fresh database, gone with this.
pub(crate) struct Place {
    kind: Kind,
}

enum Kind {
    Sqlite(sqlite::File),
    Postgres {
        database: postgres::Database,
        /// Where the scenario may do with the whole server as it likes.
        server: Option<postgres::Server>,
    },
    MySql {
        database: mysql::Database,
        server: Option<mysql::Server>,
    },
    Redis {
        server: redis::Server,
        /// Where the application has its effects: no transaction of its own can be part of Redis.
        effects: sqlite::File,
    },
}

impl Place {
    pub(crate) async fn sqlite() -> Option<Self> {
        Self::with(Kind::Sqlite(sqlite::file())).await
    }

    /// `None` where this run leaves servers out.
    pub(crate) async fn postgres() -> Option<Self> {
        let database = postgres::database().await?;
        let server = None;
        Self::with(Kind::Postgres { database, server }).await
    }

    /// On a server of its own.
    pub(crate) async fn postgres_server() -> Option<Self> {
        let server = postgres::Server::start().await?;
        let database = server.database().await;
        let server = Some(server);
        Self::with(Kind::Postgres { database, server }).await
    }

    /// MariaDB.
    pub(crate) async fn mysql() -> Option<Self> {
        let database = mysql::database().await?;
        let server = None;
        Self::with(Kind::MySql { database, server }).await
    }

    /// On a server of its own.
    pub(crate) async fn mysql_server() -> Option<Self> {
        let server = mysql::Server::start().await?;
        let database = server.database().await;
        let server = Some(server);
        Self::with(Kind::MySql { database, server }).await
    }

    /// On a server of its own, which keeps what it has acknowledged.
    pub(crate) async fn redis() -> Option<Self> {
        let server = redis::Server::start().await?;
        server.set("appendfsync", "always").await;
        server.set("appendonly", "yes").await;
        super::mistaken::record();
        let effects = sqlite::file();
        Self::with(Kind::Redis { server, effects }).await
    }

    async fn with(kind: Kind) -> Option<Self> {
        let place = Self { kind };
        let source = Source::Url {
            option: "the test",
            url: place.url(),
        };
        let store = connect(source, &Options::default()).await;
        let store = store.expect("the test's database can be reached");
        store.migrate().await.expect("the database is empty");
        store.close().await;
        super::audit::install(&place).await;
        super::elsewhere::install(&place).await;
        Some(place)
    }

    pub(crate) fn is_sqlite(&self) -> bool {
        matches!(self.kind, Kind::Sqlite(_))
    }

    pub(crate) fn is_redis(&self) -> bool {
        matches!(self.kind, Kind::Redis { .. })
    }

    pub(crate) fn is_mysql(&self) -> bool {
        matches!(self.kind, Kind::MySql { .. })
    }

    pub(crate) fn name(&self) -> &'static str {
        match self.kind {
            Kind::Sqlite(_) => "sqlite",
            Kind::MySql { .. } => "mysql",
            Kind::Postgres { .. } => "postgres",
            Kind::Redis { .. } => "redis",
        }
    }

    pub(crate) fn url(&self) -> String {
        match &self.kind {
            Kind::Sqlite(file) => file.url(),
            Kind::Postgres { database, .. } => database.url().to_owned(),
            Kind::MySql { database, .. } => database.url().to_owned(),
            Kind::Redis { server, .. } => server.url().to_owned(),
        }
    }

    /// The database of the application's effects, where that is not the store's.
    pub(crate) fn effects_url(&self) -> Option<String> {
        match &self.kind {
            Kind::Redis { effects, .. } => Some(effects.url()),
            _ => None,
        }
    }

    /// The server, if the scenario has one of its own.
    pub(crate) fn server(&self) -> Option<AnyServer<'_>> {
        match &self.kind {
            Kind::Postgres { server, .. } => server.as_ref().map(AnyServer::Postgres),
            Kind::MySql { server, .. } => server.as_ref().map(AnyServer::MySql),
            Kind::Redis { server, .. } => Some(AnyServer::Redis(server)),
            Kind::Sqlite(_) => None,
        }
    }

    pub(crate) async fn connect(&self) -> Database {
        let connected = Database::connect(&self.url()).await;
        connected.expect("the test's database can be reached")
    }

    /// Carries out statements on a connection of their own.
    pub(crate) async fn run(&self, sql: &str) -> Rows {
        let answer = self.connect().await.run(sql).await;
        answer.unwrap_or_else(|error| panic!("{error} in {sql}"))
    }

    /// The one number that a query answers.
    pub(crate) async fn number(&self, sql: &str) -> i64 {
        let rows = self.run(sql).await;
        let text = rows[0][0].as_deref().unwrap_or("0");
        text.parse().expect("a number")
    }

    /// The longest time in which the store granted, renewed and ended nobody's lease.
    pub(crate) async fn longest_silence(&self) -> Duration {
        let gaps = "SELECT max(gap) FROM (SELECT at - lag(at) OVER (ORDER BY seq) AS gap FROM audit WHERE op IN ('acquire', 'renew', 'finish', 'release')) g";
        Duration::from_micros(self.number(gaps).await.unsigned_abs())
    }

    /// Every row but those of names: id, state, attempt, crashes.
    pub(crate) async fn rows(&self) -> Vec<(i64, String, i64, i64)> {
        let mut database = self.connect().await;
        if let Database::Redis(mirror) = &mut database {
            mirror.with_ended();
        }
        let rows = database
            .run("SELECT id, state, attempt, crashes FROM tasklock_job WHERE task <> 'tasklock.lease'")
            .await
            .expect("the database is there");
        let number = |text: &Option<String>| -> i64 {
            let text = text.as_deref().expect("it is not null");
            text.parse().expect("a number")
        };
        rows.iter()
            .map(|row| {
                let state = row[1].clone().expect("it is not null");
                (number(&row[0]), state, number(&row[2]), number(&row[3]))
            })
            .collect()
    }

    /// What orders within transactions have written beside their jobs.
    pub(crate) async fn bookings(&self) -> Vec<u64> {
        let rows = self.run("SELECT number FROM booking").await;
        let number = |row: &Vec<Option<String>>| row[0].as_deref()?.parse().ok();
        rows.iter().filter_map(number).collect()
    }

    /// Waits until a query answers more than this.
    pub(crate) async fn wait_until_more_than(&self, before: i64, query: &str) {
        let mut database = self.connect().await;
        eventually_async(BOUND, async || {
            let rows = database.run(query).await.ok()?;
            (rows[0][0].as_deref()?.parse::<i64>().ok()? > before).then_some(())
        })
        .await;
    }

    /// Waits until these jobs have greater fences, or have ended for good.
    pub(crate) async fn taken_over(&self, leases: &[(i64, i64)]) {
        let done = self.taken_over_within(BOUND, leases).await;
        assert!(done, "not taken over within {BOUND:?}: {leases:?}");
    }

    /// Whether these jobs get greater fences, or end for good, so soon.
    pub(crate) async fn taken_over_within(&self, bound: Duration, leases: &[(i64, i64)]) -> bool {
        let mut database = self.connect().await;
        try_eventually_async(bound, async || {
            // A saboteur may hold the file; the next look comes soon.
            let rows = database
                .run("SELECT id, fence FROM tasklock_job WHERE state IN ('ready', 'running')")
                .await
                .ok()?;
            let number = |text: &Option<String>| text.as_deref()?.parse::<i64>().ok();
            let now: Vec<(i64, i64)> = rows
                .iter()
                .filter_map(|row| Some((number(&row[0])?, number(&row[1])?)))
                .collect();
            leases
                .iter()
                .all(|(job, fence)| now.iter().all(|(id, now)| id != job || now > fence))
                .then_some(())
        })
        .await
        .is_some()
    }

    /// The first of these names whose fence is greater, waited for so long at most.
    pub(crate) async fn name_taken_within(
        &self,
        bound: Duration,
        names: &[(String, i64)],
    ) -> Option<(String, i64)> {
        let mut database = self.connect().await;
        try_eventually_async(bound, async || {
            let rows = database
                .run("SELECT unique_key, fence FROM tasklock_job WHERE task = 'tasklock.lease'")
                .await
                .ok()?;
            let taken = |(name, fence): &&(String, i64)| {
                rows.iter().any(|row| {
                    let now = row[1].as_deref().and_then(|now| now.parse::<i64>().ok());
                    row[0].as_ref() == Some(name) && now > Some(*fence)
                })
            };
            names.iter().find(taken).cloned()
        })
        .await
    }

    /// Waits so long at most until no row is a worker's of this name.
    pub(crate) async fn left_within(&self, bound: Duration, worker: &str) {
        let query = format!(
            "SELECT count(*) FROM tasklock_job WHERE state = 'running' AND lock_worker = '{worker}'"
        );
        let mut database = self.connect().await;
        try_eventually_async(bound, async || {
            let rows = database.run(&query).await.ok()?;
            (rows[0][0].as_deref() == Some("0")).then_some(())
        })
        .await;
    }

    /// Waits until every standing job has been started and finished anew, and every other has ended: nothing
    /// was lost. The number of those that were not within the bound.
    pub(crate) async fn all_run_again(&self) -> i64 {
        let seen = self.number("SELECT max(seq) FROM audit").await;
        let ran = |op| {
            format!("SELECT 1 FROM audit a WHERE a.job = j.id AND a.op = '{op}' AND a.seq > {seen}")
        };
        let left = format!(
            "SELECT count(*) FROM tasklock_job j WHERE j.task <> 'tasklock.lease' AND CASE WHEN coalesce(j.unique_key, '-') <> ''
                THEN j.state IN ('ready', 'running') ELSE NOT EXISTS ({}) OR NOT EXISTS ({}) END",
            ran("acquire"),
            ran("finish")
        );
        let mut database = self.connect().await;
        let none = try_eventually_async(BOUND, async || {
            let rows = database.run(&left).await.ok()?;
            (rows[0][0].as_deref() == Some("0")).then_some(0)
        });
        match none.await {
            Some(none) => none,
            None => {
                self.tell_rows().await;
                self.number(&left).await
            }
        }
    }

    /// Every row that waits or runs, for whoever reads why a test has failed.
    async fn tell_rows(&self) {
        let rows = self
            .run("SELECT id, task, state, unique_key, attempt, crashes, fence, lock_worker, due_at, lock_until, resource FROM tasklock_job WHERE state IN ('ready', 'running') OR task = 'tasklock.lease'")
            .await;
        for row in rows {
            let row: Vec<&str> = row.iter().map(|it| it.as_deref().unwrap_or("-")).collect();
            super::arena::say(&row.join(" | "));
        }
    }
}
