//! On Redis.

use anyhow::{Context, Result};
use redis::Script;
use redis::aio::MultiplexedConnection;

use super::{CYCLES, Leases};
use crate::place::connect;
use crate::systems::raw::OWNER;

/// Name, owner. Answers the fence, or nothing where somebody else has it.
const ACQUIRE: &str = "local now = redis.call('TIME')
    now = now[1] * 1000000 + now[2]
    local row = redis.call('HMGET', KEYS[1], 'owner', 'until')
    if row[1] and row[1] ~= '' and tonumber(row[2]) >= now then return false end
    redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'until', now + 30000000)
    return redis.call('HINCRBY', KEYS[1], 'fence', 1)";
/// Name, owner, fence.
const RELEASE: &str = "local row = redis.call('HMGET', KEYS[1], 'owner', 'fence')
    if row[1] ~= ARGV[1] or row[2] ~= ARGV[2] then return 0 end
    redis.call('HSET', KEYS[1], 'owner', '')
    return 1";

/// Each caller has a connection of its own, as on the others.
#[derive(Clone)]
pub struct Redis(Vec<MultiplexedConnection>);

impl Leases for Redis {
    async fn install(url: &str, callers: u32) -> Result<Self> {
        let mut connections = Vec::new();
        for _ in 0..callers {
            connections.push(connect(url).await?);
        }
        Ok(Self(connections))
    }

    async fn cycles(&self, caller: u32) -> Result<()> {
        let name = format!("raw:lease:{caller}");
        let mut connection = self.0[caller as usize % self.0.len()].clone();
        let (acquire, release) = (Script::new(ACQUIRE), Script::new(RELEASE));
        for _ in 0..CYCLES {
            let mut acquire = acquire.key(&name);
            acquire.arg(OWNER);
            let fence: Option<i64> = acquire.invoke_async(&mut connection).await?;
            let fence = fence.context("nobody else has it")?;
            let mut release = release.key(&name);
            release.arg(OWNER).arg(fence);
            let () = release.invoke_async(&mut connection).await?;
        }
        Ok(())
    }
}
