//! Somebody else's hand on the keys of a Redis world.

use ::redis::aio::MultiplexedConnection;
use ::redis::{FromRedisValue, cmd};

/// A connection beside the store's, for keys under the world's hash tag.
pub(crate) struct Keys {
    connection: MultiplexedConnection,
    tag: String,
}

impl Keys {
    pub(crate) fn new(connection: MultiplexedConnection, prefix: &str) -> Self {
        let tag = format!("{{{prefix}}}");
        Self { connection, tag }
    }

    pub(crate) async fn ask<T: FromRedisValue>(
        &mut self,
        command: &str,
        key: &str,
        more: &[&str],
    ) -> T {
        let mut asking = cmd(command);
        asking.arg(format!("{}:{key}", self.tag)).arg(more);
        asking.query_async(&mut self.connection).await.unwrap()
    }

    /// What a row says.
    pub(crate) async fn field(&mut self, job: i64, name: &str) -> Option<i64> {
        self.ask("HGET", &format!("job:{job}"), &[name]).await
    }

    /// Whatever is to be deleted one day is to be deleted now.
    pub(crate) async fn let_it_be_pruned(&mut self) {
        let ids: Vec<String> = self.ask("ZRANGE", "prune", &["0", "-1"]).await;
        for id in ids {
            let key = format!("job:{id}");
            self.ask::<i64>("HSET", &key, &["prune_at", "1"]).await;
            self.ask::<i64>("ZADD", "prune", &["1", &id]).await;
        }
    }

    /// No former name has been served for long.
    pub(crate) async fn let_aliases_lapse(&mut self) {
        let names: Vec<String> = self.ask("HKEYS", "aliases", &[]).await;
        for name in names {
            let entry: String = self.ask("HGET", "aliases", &[&name]).await;
            let (_, task) = entry.split_once(':').unwrap();
            let lapsed = format!("1:{task}");
            self.ask::<i64>("HSET", "aliases", &[&name, &lapsed]).await;
        }
    }

    /// All keys, with what they hold: each write of anybody changes it.
    pub(crate) async fn dump(&mut self) -> String {
        let mut keys = cmd("KEYS");
        let keys = keys.arg(format!("{}*", self.tag));
        let keys: Vec<String> = keys.query_async(&mut self.connection).await.unwrap();
        let mut all = Vec::new();
        for key in keys {
            let mut dump = cmd("DUMP");
            let held = dump.arg(&key).query_async(&mut self.connection).await;
            let held: Vec<u8> = held.unwrap();
            all.push(format!("{key}: {held:?}"));
        }
        all.sort_unstable();
        all.join("\n")
    }
}
