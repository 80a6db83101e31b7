//! On Redis: two scripts, one of which claims and one of which ends; a row is a hash.

use std::ops::Range;

use anyhow::{Context, Result};
use redis::Script;
use redis::aio::MultiplexedConnection;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;

use super::super::{Purpose, System, Worker};
use super::{MANY, OWNER};
use crate::options::{Measurement, Options};
use crate::place::{connect, subscribe};
use crate::times;

/// Whether to tell, and payloads.
const ENQUEUE: &str = "local id = redis.call('INCRBY', 'raw:last', #ARGV - 1) - #ARGV + 1
    local now = redis.call('TIME')
    now = now[1] * 1000000 + now[2]
    for i = 2, #ARGV do
        id = id + 1
        redis.call('HSET', 'raw:job:' .. id, 'payload', ARGV[i], 'fence', 0)
        redis.call('ZADD', 'raw:due', now, id)
    end
    if ARGV[1] == '1' then redis.call('PUBLISH', 'raw', '') end";
/// Owner, most. Answers ids and fences in turns.
const CLAIM: &str = "local now = redis.call('TIME')
    now = now[1] * 1000000 + now[2]
    local claims = {}
    for i, id in ipairs(redis.call('ZRANGEBYSCORE', 'raw:due', '-inf', now, 'LIMIT', 0, ARGV[2])) do
        local fence = redis.call('HINCRBY', 'raw:job:' .. id, 'fence', 1)
        redis.call('HSET', 'raw:job:' .. id, 'owner', ARGV[1], 'until', now + 30000000)
        redis.call('ZREM', 'raw:due', id)
        redis.call('ZADD', 'raw:running', now + 30000000, id)
        claims[2 * i - 1] = id
        claims[2 * i] = fence
    end
    return claims";
/// Owner, whether to keep, ids and fences in turns.
const END: &str = "for i = 3, #ARGV, 2 do
        local key = 'raw:job:' .. ARGV[i]
        local row = redis.call('HMGET', key, 'owner', 'fence')
        if row[1] == ARGV[1] and row[2] == ARGV[i + 1] then
            redis.call('ZREM', 'raw:running', ARGV[i])
            if ARGV[2] == '1' then
                redis.call('HSET', key, 'state', 'done')
                redis.call('HDEL', key, 'owner', 'until')
            else
                redis.call('DEL', key)
            end
        end
    end";
const CHANNEL: &str = "raw";

pub struct Redis {
    /// Callers share it, and what they send is under way at once.
    connection: MultiplexedConnection,
    enqueue: Script,
    /// Whether a worker is told.
    tell: bool,
}

impl Redis {
    async fn write(&self, numbers: impl Iterator<Item = u32>) -> Result<()> {
        let mut call = self.enqueue.prepare_invoke();
        call.arg(u8::from(self.tell));
        for number in numbers {
            call.arg(number);
        }
        let mut connection = self.connection.clone();
        Ok(call.invoke_async(&mut connection).await?)
    }
}

impl System for Redis {
    type Worker = Slots;

    async fn install(_url: &str) -> Result<()> {
        Ok(())
    }

    async fn connect(url: &str, options: &Options) -> Result<Self> {
        Ok(Self {
            connection: connect(url).await?,
            enqueue: Script::new(ENQUEUE),
            tell: matches!(
                options.measurement,
                Measurement::Latency | Measurement::Enqueuer
            ),
        })
    }

    async fn enqueue(&self, number: u32) -> Result<()> {
        self.write([number].into_iter()).await
    }

    async fn enqueue_many(&self, numbers: Range<u32>) -> Result<()> {
        for from in numbers.clone().step_by(MANY) {
            self.write(from..numbers.end.min(from + MANY as u32))
                .await?;
        }
        Ok(())
    }

    fn unended(&self) -> &'static str {
        "return redis.call('ZCARD', 'raw:due') + redis.call('ZCARD', 'raw:running')"
    }

    async fn worker(url: &str, options: &Options, purpose: Purpose) -> Result<Slots> {
        let slots = options.slots.unwrap_or(16);
        let mut connections = Vec::new();
        for _ in 0..slots {
            connections.push(connect(url).await?);
        }
        Ok(Slots {
            heard: match purpose {
                Purpose::Throughput => None,
                Purpose::Latency | Purpose::Idle => Some(subscribe(url, CHANNEL).await?),
            },
            connections,
            batch: options.batch,
            keep: options.keep,
            running: JoinSet::new(),
        })
    }
}

/// Connections that claim and end, until nothing is left; or one that claims when it is told.
pub struct Slots {
    connections: Vec<MultiplexedConnection>,
    batch: u32,
    keep: bool,
    heard: Option<(MultiplexedConnection, UnboundedReceiver<()>)>,
    running: JoinSet<Result<()>>,
}

impl Worker for Slots {
    async fn start(&mut self) -> Result<()> {
        let (batch, keep) = (self.batch, u8::from(self.keep));
        if let Some((subscribed, mut heard)) = self.heard.take() {
            let mut connection = self.connections.swap_remove(0);
            self.running.spawn(async move {
                let (_subscribed, claim) = (subscribed, Script::new(CLAIM));
                for number in 0.. {
                    heard.recv().await.context("the connection was lost")?;
                    let mut claim = claim.arg(OWNER);
                    claim.arg(1);
                    let _: Vec<i64> = claim.invoke_async(&mut connection).await?;
                    times::ran(number);
                }
                Ok(())
            });
            return Ok(());
        }
        for (number, mut connection) in self.connections.drain(..).enumerate() {
            self.running.spawn(async move {
                let owner = format!("{OWNER} {number}");
                let (claim, end) = (Script::new(CLAIM), Script::new(END));
                loop {
                    let mut claim = claim.arg(&owner);
                    let claims: Vec<i64> = claim.arg(batch).invoke_async(&mut connection).await?;
                    if claims.is_empty() {
                        return Ok(());
                    }
                    let mut end = end.arg(&owner);
                    let end = end.arg(keep).arg(&claims);
                    let () = end.invoke_async(&mut connection).await?;
                    (0..claims.len() as u32 / 2).for_each(times::ran);
                }
            });
        }
        Ok(())
    }

    async fn stop(mut self) -> Result<()> {
        // One that listens does so for ever; others that have not ended by now have failed.
        self.running.abort_all();
        while let Some(ended) = self.running.join_next().await {
            if let Ok(ended) = ended {
                ended?;
            }
        }
        Ok(())
    }
}
