//! A fresh database, and those who share it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};

use sqlx::mysql::MySqlRow;
use sqlx::{
    AssertSqlSafe, Column, Connection, Executor, MySqlConnection, PgConnection, Row,
    SqliteConnection,
};
use tasklock_runtime::store::{JobRow, Options, Pool, Source, Store, connect};
use tasklock_runtime::{Error, Memory};
use tasklock_test_support::wait::eventually_async;
use tasklock_test_support::{mysql, postgres, redis, sqlite};
use tokio::sync::Mutex;

use crate::keys::Keys;
use crate::steps::BOUND;

/// Settings of a server that the store must not depend on. The functions come before the server's own
/// in the search path, so that the database's clock is an hour ahead.
const ELSEWHERE: &[&str] = &[
    "ALTER DATABASE {db} SET default_transaction_isolation = 'serializable'",
    "ALTER DATABASE {db} SET TimeZone = 'Asia/Kathmandu'",
    "ALTER DATABASE {db} SET DateStyle = 'German, DMY'",
    "ALTER DATABASE {db} SET IntervalStyle = 'sql_standard'",
    "CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql
        AS $$ SELECT pg_catalog.clock_timestamp() + interval '1 hour' $$",
    "CREATE FUNCTION public.statement_timestamp() RETURNS timestamptz STABLE LANGUAGE sql
        AS $$ SELECT pg_catalog.statement_timestamp() + interval '1 hour' $$",
];

/// The same of a MariaDB server.
const HOSTILE: &[&str] = &[
    "SET GLOBAL autocommit = 0, completion_type = 'CHAIN', sql_safe_updates = 1, unique_checks = 0",
    "SET GLOBAL sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,NO_ZERO_DATE'",
    "SET GLOBAL sql_select_limit = 2, sql_auto_is_null = 1, group_concat_max_len = 4",
    "SET GLOBAL tx_isolation = 'SERIALIZABLE', innodb_snapshot_isolation = ON",
    "SET GLOBAL time_zone = '+05:45', auto_increment_increment = 3, auto_increment_offset = 2",
];

/// A fresh database of one kind, gone with this.
pub(crate) struct World {
    base: Base,
    /// How far its clock is ahead of the workers', in seconds.
    pub(crate) ahead: i64,
}

enum Base {
    Memory(Memory),
    Redis(redis::Place),
    Sqlite(sqlite::File),
    /// With the server, where that is one of a world's own.
    MySql(mysql::Database, Option<Arc<mysql::Server>>),
    Postgres {
        database: Arc<postgres::Database>,
        schema: String,
    },
}

/// A database that goes with the last world in it.
type Shared = Mutex<Weak<postgres::Database>>;

/// The database's URL for connections that find this schema's tables, and `public`'s functions.
fn in_schema(url: &str, schema: &str) -> String {
    let separator = if url.contains('?') { '&' } else { '?' };
    format!("{url}{separator}options[search_path]={schema},public,pg_catalog")
}

impl World {
    pub(crate) async fn memory() -> Option<Self> {
        let base = Base::Memory(Memory::new());
        Some(Self { base, ahead: 0 })
    }

    /// Keys of its own on the shared server.
    pub(crate) async fn redis() -> Option<Self> {
        let base = Base::Redis(redis::place().await?);
        Some(Self { base, ahead: 0 })
    }

    pub(crate) async fn sqlite() -> Option<Self> {
        let base = Base::Sqlite(sqlite::file());
        Some(Self { base, ahead: 0 })
    }

    pub(crate) async fn mysql() -> Option<Self> {
        let base = Base::MySql(mysql::database().await?, None);
        Some(Self { base, ahead: 0 })
    }

    /// On a server of its own, which the worlds of this kind share.
    pub(crate) async fn mysql_elsewhere() -> Option<Self> {
        static SHARED: Mutex<Weak<mysql::Server>> = Mutex::const_new(Weak::new());
        let mut shared = SHARED.lock().await;
        let server = match shared.upgrade() {
            Some(server) => server,
            None => {
                let server = Arc::new(mysql::Server::start().await?);
                let mut connection = MySqlConnection::connect(server.url()).await.unwrap();
                for statement in HOSTILE {
                    connection.execute(*statement).await.unwrap();
                }
                *shared = Arc::downgrade(&server);
                server
            }
        };
        drop(shared);
        let base = Base::MySql(server.database().await, Some(server));
        Some(Self { base, ahead: 0 })
    }

    /// On a server of a test's own.
    pub(crate) async fn on(server: mysql::Server) -> Self {
        let base = Base::MySql(server.database().await, Some(Arc::new(server)));
        Self { base, ahead: 0 }
    }

    pub(crate) async fn postgres() -> Option<Self> {
        static SHARED: Shared = Mutex::const_new(Weak::new());
        Self::in_shared(&SHARED, &[]).await
    }

    pub(crate) async fn postgres_elsewhere() -> Option<Self> {
        static SHARED: Shared = Mutex::const_new(Weak::new());
        let world = Self::in_shared(&SHARED, ELSEWHERE).await?;
        Some(Self {
            ahead: 3600,
            ..world
        })
    }

    /// A schema of its own in a database of all worlds of one kind: to make a database and drop it
    /// takes longer than most cases.
    async fn in_shared(shared: &Shared, settings: &[&str]) -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let mut shared = shared.lock().await;
        let database = match shared.upgrade() {
            Some(database) => database,
            None => {
                let database = postgres::database().await?;
                let mut connection = database.connect().await;
                for statement in settings {
                    let statement = statement.replace("{db}", database.name());
                    connection.execute(AssertSqlSafe(statement)).await.unwrap();
                }
                let database = Arc::new(database);
                *shared = Arc::downgrade(&database);
                database
            }
        };
        drop(shared);
        let schema = format!("world_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let mut connection = database.connect().await;
        let statement = format!("CREATE SCHEMA {schema}");
        connection.execute(AssertSqlSafe(statement)).await.unwrap();
        let base = Base::Postgres { database, schema };
        Some(Self { base, ahead: 0 })
    }

    /// What one process has: a store with connections of its own; on memory, a clone.
    pub(crate) async fn store(&self) -> Arc<dyn Store> {
        let store = self.connect(&Options::default()).await.unwrap();
        store.migrate().await.unwrap();
        store
    }

    /// What so many processes have.
    pub(crate) async fn stores(&self, count: usize) -> Vec<Arc<dyn Store>> {
        let mut stores = Vec::new();
        for _ in 0..count {
            stores.push(self.store().await);
        }
        stores
    }

    /// A store whose tables may be missing.
    pub(crate) async fn connect(&self, options: &Options) -> Result<Arc<dyn Store>, Error> {
        connect(self.source(), &self.within(options)).await
    }

    /// These options, in this world: on Redis, what is in it is told by how its keys begin.
    pub(crate) fn within(&self, options: &Options) -> Options {
        let mut options = options.clone();
        if let Base::Redis(place) = &self.base {
            let own = options.table_prefix.unwrap_or_default();
            options.table_prefix = Some(format!("{}{own}", place.prefix()));
        }
        options
    }

    /// Where the database is.
    pub(crate) fn source(&self) -> Source {
        let url = match &self.base {
            Base::Memory(memory) => return Source::Pool(Pool::Memory(memory.clone())),
            Base::Redis(place) => place.url().to_owned(),
            Base::Sqlite(file) => file.url(),
            Base::MySql(database, _) => database.url().to_owned(),
            Base::Postgres { database, schema } => in_schema(database.url(), schema),
        };
        let option = "database";
        Source::Url { option, url }
    }

    /// The database's URL.
    pub(crate) fn url(&self) -> String {
        match self.source() {
            Source::Url { url, .. } => url,
            Source::Pool(_) => panic!("it has none"),
        }
    }

    /// Where the database is, for connections that Postgres lists under this name.
    pub(crate) fn source_as(&self, name: &str) -> Source {
        match self.source() {
            Source::Url { option, url } => {
                let url = format!("{url}&application_name={name}");
                Source::Url { option, url }
            }
            other => other,
        }
    }

    /// Somebody else's connection; `None` where there is no SQL.
    pub(crate) async fn sql(&self) -> Option<Sql> {
        match &self.base {
            Base::Memory(_) | Base::Redis(_) => None,
            Base::Sqlite(file) => {
                let connection = SqliteConnection::connect(&file.url()).await.unwrap();
                Some(Sql::Sqlite(connection))
            }
            Base::MySql(database, _) => {
                let mut connection = database.connect().await;
                // Names in double quotes, as the others have them.
                let quotes = "SET SESSION sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES')";
                connection.execute(quotes).await.unwrap();
                // And what it does is done, wherever it is.
                let plain = "SET SESSION autocommit = 1, completion_type = 'NO_CHAIN', sql_safe_updates = 0, \
                    sql_select_limit = 9999999, sql_auto_is_null = 0, group_concat_max_len = 9999999";
                connection.execute(plain).await.unwrap();
                Some(Sql::MySql(connection))
            }
            Base::Postgres { database, schema } => {
                let url = in_schema(database.url(), schema);
                Some(Sql::Postgres(PgConnection::connect(&url).await.unwrap()))
            }
        }
    }

    /// Whether other processes hear of what one has written. There is nothing in MariaDB and MySQL to listen to: workers poll.
    pub(crate) fn announces(&self) -> bool {
        !self.is_mysql()
    }

    pub(crate) fn is_mysql(&self) -> bool {
        matches!(self.base, Base::MySql(..))
    }

    /// Whether a locking read shows a row that has changed since the transaction's snapshot: else it is an error, as on Postgres.
    pub(crate) fn reads_past_snapshots(&self) -> bool {
        matches!(self.base, Base::MySql(_, None))
    }

    /// Whether somebody who writes leaves the other rows free.
    pub(crate) fn locks_rows(&self) -> bool {
        !matches!(self.base, Base::Sqlite(_))
    }

    /// Whether what is in it outlives its stores, and so has a version.
    pub(crate) fn is_kept(&self) -> bool {
        !matches!(self.base, Base::Memory(_))
    }

    /// Whether each claim raises a row's fence by one. On Redis it is the server's clock, so that it does not go back when
    /// the server loses its data.
    pub(crate) fn fences_count(&self) -> bool {
        !matches!(self.base, Base::Redis(_))
    }

    /// A fence that was given out after this one; 0 is before all.
    #[track_caller]
    pub(crate) fn assert_next_fence(&self, fence: i64, before: i64) {
        if self.fences_count() {
            assert_eq!(fence, before + 1);
        } else {
            let year_2020 = 1_577_836_800_000_000;
            assert!(fence > before.max(year_2020), "{fence} after {before}");
        }
    }

    /// An onlooker.
    pub(crate) async fn observer(&self) -> Observer {
        Observer {
            store: self.store().await,
            sql: self.sql().await,
            keys: self.keys().await,
        }
    }

    /// Somebody else's hand on the keys; `None` where there are none.
    pub(crate) async fn keys(&self) -> Option<Keys> {
        match &self.base {
            Base::Redis(place) => Some(Keys::new(place.connect().await, place.prefix())),
            _ => None,
        }
    }

    /// Somebody else's transaction with this job's row locked in this mode; where a database knows
    /// no rows' locks, with all of them locked. `None` where nobody can hold any.
    pub(crate) async fn lock(&self, job: i64, mode: &str) -> Option<Lock> {
        let mut sql = self.sql().await?;
        let rows_only = match sql {
            Sql::Sqlite(_) => {
                sql.execute("BEGIN IMMEDIATE").await;
                false
            }
            Sql::MySql(_) => {
                sql.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION")
                    .await;
                let mode = match mode {
                    "FOR SHARE" => "LOCK IN SHARE MODE",
                    _ => "FOR UPDATE",
                };
                sql.execute(&format!(
                    "SELECT 1 FROM tasklock_job WHERE id = {job} {mode}"
                ))
                .await;
                true
            }
            Sql::Postgres(_) => {
                sql.execute("BEGIN ISOLATION LEVEL READ COMMITTED").await;
                sql.execute(&format!("SELECT FROM tasklock_job WHERE id = {job} {mode}"))
                    .await;
                true
            }
        };
        Some(Lock { sql, rows_only })
    }

    /// [`lock`](Self::lock) as a guarded transaction does it; `None` where that locks more than the row.
    pub(crate) async fn guard(&self, job: i64) -> Option<Lock> {
        let lock = self.lock(job, "FOR SHARE").await?;
        lock.rows_only.then_some(lock)
    }
}

impl World {
    /// Waits until so many wait for a lock in this world's tables, or in a queue behind each other for one.
    pub(crate) async fn waiting(&self, sql: &mut Sql, count: i64) {
        let waiting = match &self.base {
            Base::Postgres { schema, .. } => format!(
                "SELECT count(DISTINCT w.pid) FROM pg_locks w JOIN pg_locks t ON t.pid = w.pid
                 WHERE NOT w.granted AND t.relation = '{schema}.tasklock_job'::regclass"
            ),
            Base::MySql(..) => WAITING.to_owned(),
            _ => panic!("it does not tell who waits"),
        };
        let look = async || (sql.number(&waiting).await >= count).then_some(());
        eventually_async(BOUND, look).await;
    }
}

/// How many wait for a lock in this database: their statements take so long for nothing else. (InnoDB's own list of those who
/// wait is not made anew for whoever looks more often than ten times a second.)
pub(crate) const WAITING: &str = "
SELECT COUNT(*) FROM information_schema.processlist
WHERE db = DATABASE() AND id <> CONNECTION_ID() AND command IN ('Query', 'Execute') AND time_ms > 300";

/// A connection beside the store's.
#[expect(clippy::enum_variant_names, reason = "the product is called so")]
pub(crate) enum Sql {
    Sqlite(SqliteConnection),
    MySql(MySqlConnection),
    Postgres(PgConnection),
}

impl Sql {
    pub(crate) async fn execute(&mut self, statement: &str) {
        self.run(statement).await.unwrap();
    }

    /// Whether the statement succeeds.
    pub(crate) async fn try_execute(&mut self, statement: &str) -> bool {
        self.run(statement).await.is_ok()
    }

    async fn run(&mut self, statement: &str) -> Result<(), sqlx::Error> {
        let statement = AssertSqlSafe(statement.to_owned());
        match self {
            Self::Sqlite(connection) => connection.execute(statement).await.map(drop),
            // A statement in somebody's client, and not a prepared one: there may be several.
            Self::MySql(connection) => {
                let statement = sqlx::raw_sql(AssertSqlSafe(in_mysql(statement.0)));
                connection.execute(statement).await.map(drop)
            }
            Self::Postgres(connection) => connection.execute(statement).await.map(drop),
        }
    }

    /// The one number that a query answers.
    pub(crate) async fn number(&mut self, query: &str) -> i64 {
        let query = sqlx::AssertSqlSafe(query.to_owned());
        match self {
            Self::Sqlite(connection) => sqlx::query_scalar(query).fetch_one(connection).await,
            Self::MySql(connection) => sqlx::query_scalar(query).fetch_one(connection).await,
            Self::Postgres(connection) => sqlx::query_scalar(query).fetch_one(connection).await,
        }
        .unwrap()
    }

    /// The one text that a query answers.
    pub(crate) async fn text(&mut self, query: &str) -> String {
        let query = sqlx::AssertSqlSafe(query.to_owned());
        match self {
            Self::Sqlite(connection) => sqlx::query_scalar(query).fetch_one(connection).await,
            Self::MySql(connection) => {
                let query = sqlx::AssertSqlSafe(in_mysql(query.0));
                sqlx::query_scalar(query).fetch_one(connection).await
            }
            Self::Postgres(connection) => sqlx::query_scalar(query).fetch_one(connection).await,
        }
        .unwrap()
    }
}

/// What is written otherwise there.
fn in_mysql(statement: String) -> String {
    statement
        .replace("AS text)", "AS char)")
        .replace("AS TEXT)", "AS char)")
        .replace("text PRIMARY KEY", "varchar(9) PRIMARY KEY")
        .replace(
            "string_agg(job_id::text, ',' ORDER BY job_id)",
            "group_concat(job_id ORDER BY job_id)",
        )
}

/// A lock, until it is released.
pub(crate) struct Lock {
    sql: Sql,
    /// Whether other rows can be written meanwhile.
    pub(crate) rows_only: bool,
}

impl Lock {
    pub(crate) async fn release(mut self) {
        self.sql.execute("COMMIT").await;
    }
}

/// Sees whether anything at all was written.
pub(crate) struct Observer {
    store: Arc<dyn Store>,
    sql: Option<Sql>,
    keys: Option<Keys>,
}

/// A row as the store tells it, without what passing time changes; and as the database has it, with
/// the mark of the last write.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Sight {
    pub(crate) row: JobRow,
    raw: String,
}

impl Observer {
    pub(crate) async fn see(&mut self, job: i64) -> Sight {
        let mut rows = self.store.inspect(&[job]).await.unwrap();
        assert_eq!(rows.len(), 1, "the job {job} is there");
        let row = JobRow {
            left: None,
            ..rows.remove(0)
        };
        let raw = match &mut self.sql {
            None => match &mut self.keys {
                Some(keys) => keys.dump().await,
                None => String::new(),
            },
            // Changes with whatever anybody else has written into the file.
            Some(sql @ Sql::Sqlite(_)) => {
                sql.text("SELECT CAST(data_version AS TEXT) FROM pragma_data_version")
                    .await
            }
            Some(Sql::MySql(connection)) => {
                let mut raw = String::new();
                for (table, id) in [("tasklock_job", "id"), ("tasklock_heartbeat", "job_id")] {
                    let query = format!("SELECT * FROM {table} WHERE {id} = {job}");
                    let query = sqlx::query(AssertSqlSafe(query));
                    let rows = query.fetch_all(&mut *connection).await.unwrap();
                    raw.extend(rows.iter().map(every_column));
                }
                raw
            }
            Some(sql) => {
                sql.text(&format!(
                    "SELECT concat(j.xmin, to_jsonb(j), h.xmin, to_jsonb(h)) FROM tasklock_job j
                     LEFT JOIN tasklock_heartbeat h ON h.job_id = j.id WHERE j.id = {job}"
                ))
                .await
            }
        };
        Sight { row, raw }
    }
}
/// A row of MariaDB, which has no mark of the last write.
fn every_column(row: &MySqlRow) -> String {
    let column = |column: &sqlx::mysql::MySqlColumn| {
        let bytes: Option<Vec<u8>> = row.try_get_unchecked(column.ordinal()).unwrap();
        format!("{} = {bytes:?}; ", column.name())
    };
    row.columns().iter().map(column).collect()
}
