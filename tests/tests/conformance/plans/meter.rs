//! The server's own count of what is read.

use tasklock_runtime::store::{Options, Store, connect};
use tasklock_test_support::mysql;
use tasklock_test_support::wait::eventually_async;

use crate::steps::BOUND;
use crate::world::{Sql, World};

/// How many rows of the jobs' table were read so far.
const POSTGRES: [&str; 2] = [
    "SELECT sum(idx_tup_read)::bigint FROM pg_stat_user_indexes
     WHERE schemaname = current_schema() AND relname = 'tasklock_job'",
    "SELECT seq_tup_read FROM pg_stat_user_tables
     WHERE schemaname = current_schema() AND relname = 'tasklock_job'",
];
/// What a condition on the index alone refuses is not counted as a row, but as a try, of the whole server.
const MARIADB: [&str; 2] = [
    "SELECT CAST(COALESCE(SUM(rows_read), 0) AS SIGNED) FROM information_schema.table_statistics
     WHERE table_schema = DATABASE() AND table_name = 'tasklock_job'",
    "SELECT CAST(SUM(CASE variable_name WHEN 'HANDLER_ICP_ATTEMPTS' THEN variable_value ELSE -variable_value END) AS SIGNED)
     FROM information_schema.global_status WHERE variable_name IN ('HANDLER_ICP_ATTEMPTS', 'HANDLER_ICP_MATCH')",
];

/// Waiting jobs of three priorities, every second one not due, every tenth one with a key; and half as many that have ended: of
/// the same task, whose places are kept no more, and of one that has nothing else.
const FILL: [&str; 2] = [
    "INSERT INTO tasklock_job (task, priority, due_at, unique_key, state, prune_at, hold_until)
     SELECT CASE n % 8 WHEN 7 THEN 'ended' ELSE 'task' END, n % 3 * 10 - 10,
         clock_timestamp() + (CASE n % 2 WHEN 0 THEN -1 ELSE 1 END * (3600 + n)) * interval '1 second',
         CASE n % 10 WHEN 0 THEN n::text END,
         CASE n % 4 WHEN 3 THEN 'done' ELSE 'ready' END,
         CASE n % 4 WHEN 3 THEN clock_timestamp() + interval '1 hour' END,
         CASE n % 4 WHEN 3 THEN clock_timestamp() - interval '1 second' END
     FROM generate_series(1, {waiting}) n",
    "INSERT INTO tasklock_job (task, priority, due_at, unique_key, state, prune_at, hold_until)
     SELECT CASE n % 8 WHEN 7 THEN 'ended' ELSE 'task' END, n % 3 * 10 - 10,
         now_us + CASE n % 2 WHEN 0 THEN -1 ELSE 1 END * (3600 + n) * 1000000,
         CASE n % 10 WHEN 0 THEN n END,
         CASE n % 4 WHEN 3 THEN 'done' ELSE 'ready' END,
         CASE n % 4 WHEN 3 THEN now_us + 3600000000 END,
         CASE n % 4 WHEN 3 THEN now_us - 1000000 END
     FROM (SELECT CAST(seq AS SIGNED) AS n, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) AS now_us
           FROM seq_1_to_{waiting}) s",
];

pub(crate) struct Meter<'a> {
    world: &'a World,
    /// Where the server counts for everybody together.
    own: Option<World>,
    pub(crate) sql: Sql,
}

impl<'a> Meter<'a> {
    /// `None` where nothing is counted.
    pub(crate) async fn of(world: &'a World) -> Option<Self> {
        if !world.locks_rows() || world.ahead != 0 {
            return None;
        }
        if !world.is_mysql() {
            let (own, sql) = (None, world.sql().await?);
            return Some(Self { world, own, sql });
        }
        let server = mysql::Server::start().await?;
        let alone = World::on(server).await;
        let mut sql = alone.sql().await?;
        sql.execute("SET GLOBAL userstat = 1").await;
        let own = Some(alone);
        Some(Self { world, own, sql })
    }

    pub(crate) fn world(&self) -> &World {
        self.own.as_ref().unwrap_or(self.world)
    }

    pub(crate) fn is_mysql(&self) -> bool {
        self.own.is_some()
    }

    /// Before the tables are filled: the server's figures stay those of an empty table.
    pub(crate) async fn fill(&mut self, waiting: i64) {
        if self.is_mysql() {
            self.sql
                .execute("ALTER TABLE tasklock_job STATS_AUTO_RECALC = 0")
                .await;
        }
        let fill = FILL[usize::from(self.is_mysql())];
        let fill = fill.replace("{waiting}", &waiting.to_string());
        self.sql.execute(&fill).await;
    }

    pub(crate) async fn analyze(&mut self) {
        let statement = ["ANALYZE tasklock_job", "ANALYZE TABLE tasklock_job"];
        let statement = statement[usize::from(self.is_mysql())];
        self.sql.execute(statement).await;
    }

    async fn read(&mut self) -> [i64; 2] {
        let [one, other] = if self.is_mysql() { MARIADB } else { POSTGRES };
        [self.sql.number(one).await, self.sql.number(other).await]
    }

    /// Makes these calls on a store of their own, and sees that they read at most so many rows; on Postgres each through an
    /// index.
    pub(crate) async fn reads_at_most(
        &mut self,
        what: &str,
        most: i64,
        calls: impl AsyncFnOnce(&dyn Store),
    ) {
        let source = if self.is_mysql() {
            self.world().source()
        } else {
            let name = self.sql.text("SELECT current_schema()::text").await;
            self.world().source_as(&name)
        };
        let store = connect(source, &Options::default()).await.unwrap();
        let before = self.read().await;
        calls(&*store).await;
        store.close().await;
        self.told().await;
        let after = self.read().await;
        let [one, other] = [after[0] - before[0], after[1] - before[1]];
        let is_mysql = self.is_mysql();
        println!("{what}: {one} rows read, {other} besides");
        assert!(is_mysql || other == 0, "{what}: {other} without an index");
        assert!(one + other <= most, "{what}: {one} and {other}");
    }

    /// On Postgres a session tells what it has read when it ends; on MariaDB, when a statement does.
    async fn told(&mut self) {
        if self.is_mysql() {
            return;
        }
        let there =
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = current_schema()";
        let sql = &mut self.sql;
        let look = async || (sql.number(there).await == 0).then_some(());
        eventually_async(BOUND, look).await;
    }
}
