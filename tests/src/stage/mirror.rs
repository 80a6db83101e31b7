//! What a Redis store has, as tables: the tests ask it in the same words as a SQL store.
//!
//! Before each statement the rows of jobs and names are copied into a SQLite database in memory, by one script, with
//! the log that `torment::scripts` has written, as far as it is new. Statements that write change the copy alone.
//! Jobs that have ended are many and hardly ever asked for: they are not copied unless that is wanted.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, RedisError};
use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;
use tokio::time::Instant;

const TABLES: &str = "
    CREATE TABLE tasklock_job (id bigint, task text, state text, fence bigint, unique_key text, lock_worker text,
        attempt bigint, crashes bigint, due_at bigint, lock_until bigint, resource text);
    CREATE TABLE audit (seq INTEGER PRIMARY KEY AUTOINCREMENT, op text, job bigint, fence bigint, owner text,
        until bigint, was text, state text, outcome text, attempt bigint, crashes bigint, task text, unique_key text,
        payload text, resource text, at bigint, tx bigint);
    CREATE TABLE booking (number bigint)";
const JOBS: &str = "INSERT INTO tasklock_job
    SELECT value ->> 0, value ->> 1, value ->> 2, coalesce(value ->> 3, 0), value ->> 4, value ->> 5,
        coalesce(value ->> 6, 0), coalesce(value ->> 7, 0), value ->> 8, value ->> 9, value ->> 10
    FROM json_each(?1)";
const AUDIT: &str = "INSERT INTO audit (op, job, fence, owner, until, was, state, outcome, attempt, crashes, task,
        unique_key, payload, resource, at, tx)
    SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7,
        value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15
    FROM json_each(?1) ORDER BY key";

/// KEYS: the hash tag of the default prefix. ARGV: how much of the log is known, whether ended jobs are wanted.
const READ: &str = "
    local rows = {}
    local function put(id)
        local row = redis.call('HMGET', KEYS[1] .. ':job:' .. id, 'task', 'state', 'fence', 'unique_key', 'worker',
            'attempt', 'crashes', 'due_at', 'lock_until', 'resource')
        for i = 1, 10 do
            row[i] = row[i] or cjson.null
        end
        table.insert(row, 1, id)
        rows[#rows + 1] = row
    end
    local ended = {}
    if ARGV[2] == '0' then
        for _, id in ipairs(redis.call('ZRANGE', KEYS[1] .. ':ended', 0, -1)) do
            ended[id] = true
        end
    end
    for _, id in ipairs(redis.call('ZRANGE', KEYS[1] .. ':all', 0, -1)) do
        if not ended[id] then
            put(id)
        end
    end
    for _, id in ipairs(redis.call('HVALS', KEYS[1] .. ':keys:tasklock.lease')) do
        put(id)
    end
    return { cjson.encode(rows), redis.call('LRANGE', KEYS[1] .. ':audit', ARGV[1], -1) }";
const TAG: &str = "{tasklock_}";

/// A server answers within this time, or is as good as gone.
const ANSWER: Duration = Duration::from_secs(30);
/// To copy all rows takes the server some time, which tests that wait for something shall leave to others.
const INTERVAL: Duration = Duration::from_millis(25);

/// A connection to the server, and the copy.
#[derive(Debug)]
pub struct Mirror {
    redis: Connected,
    tables: SqliteConnection,
    copied: Option<Instant>,
    known: usize,
    ended: bool,
}

struct Connected(MultiplexedConnection);

impl std::fmt::Debug for Connected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Connected")
    }
}

impl Mirror {
    pub(super) async fn connect(url: &str) -> Result<Self, sqlx::Error> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(ANSWER))
            .set_response_timeout(Some(ANSWER));
        let client = Client::open(url).map_err(said)?;
        let redis = client.get_multiplexed_async_connection_with_config(&config);
        let redis = Connected(redis.await.map_err(said)?);
        let mut tables = SqliteConnection::connect("sqlite::memory:").await?;
        sqlx::raw_sql(TABLES).execute(&mut tables).await?;
        Ok(Self {
            redis,
            tables,
            copied: None,
            known: 0,
            ended: false,
        })
    }

    /// From now on with the jobs that have ended.
    pub fn with_ended(&mut self) {
        self.ended = true;
    }

    /// The tables as they are now.
    pub(super) async fn tables(&mut self) -> Result<&mut SqliteConnection, sqlx::Error> {
        if let Some(copied) = self.copied {
            tokio::time::sleep_until(copied + INTERVAL).await;
        }
        let mut read = redis::cmd("EVAL");
        let ended = u8::from(self.ended);
        read.arg(READ).arg(1).arg(TAG).arg(self.known).arg(ended);
        let (rows, log): (String, Vec<String>) =
            read.query_async(&mut self.redis.0).await.map_err(said)?;
        self.known += log.len();
        let mut tx = self.tables.begin().await?;
        sqlx::raw_sql("DELETE FROM tasklock_job")
            .execute(&mut *tx)
            .await?;
        sqlx::query(JOBS).bind(rows).execute(&mut *tx).await?;
        let log = format!("[{}]", log.join(","));
        sqlx::query(AUDIT).bind(log).execute(&mut *tx).await?;
        tx.commit().await?;
        self.copied = Some(Instant::now());
        Ok(&mut self.tables)
    }

    /// An operator's command.
    ///
    /// # Errors
    ///
    /// The server's.
    pub async fn operate(&mut self, words: &[&str]) -> Result<(), RedisError> {
        let (name, rest) = words.split_first().expect("a command has a name");
        let mut command = redis::cmd(name);
        command.arg(rest).exec_async(&mut self.redis.0).await
    }
}

fn said(error: RedisError) -> sqlx::Error {
    sqlx::Error::Protocol(error.to_string())
}
