//! Announcements by SUBSCRIBE and PUBLISH.

use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{ConnectionInfo, ErrorKind, PushInfo, PushKind, RedisError, RedisResult, Value};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

use super::link::{self, Link};
use crate::lease::OwnerToken;
use crate::store::listening::{Listen, PROBE};

/// After so long without a word the server is asked whether it is still there: a connection may be gone without a sign.
const SILENCE: Duration = Duration::from_secs(10);

/// Who listens, and to what.
pub(super) struct Channel {
    pub(super) info: ConnectionInfo,
    /// For the announcement of our own.
    pub(super) link: Arc<Link>,
    pub(super) channel: String,
}

/// A connection that has subscribed, and what the server says on it.
pub(super) struct Subscribed {
    connection: MultiplexedConnection,
    pushed: UnboundedReceiver<PushInfo>,
}

fn lost(what: &'static str) -> RedisError {
    RedisError::from((ErrorKind::Io, what))
}

impl Listen for Channel {
    type Listener = Subscribed;
    type Error = RedisError;

    async fn listen(&self) -> RedisResult<Subscribed> {
        let (push, pushed) = unbounded_channel();
        let push = move |info| drop(push.send(info));
        let mut connection = link::connect(self.info.clone(), push).await?;
        connection.subscribe(&self.channel).await?;
        let mut subscribed = Subscribed { connection, pushed };
        let probe = OwnerToken::fresh();
        let mut publish = redis::cmd("PUBLISH");
        publish.arg(&self.channel).arg(probe.as_str());
        self.link.command(&publish).await?;
        let heard = async {
            while let Some(said) = subscribed.next().await {
                if said == probe.as_str() {
                    return Ok(());
                }
            }
            Err(lost("the listening connection was lost"))
        };
        match timeout(PROBE, heard).await {
            Ok(heard) => heard.map(|()| subscribed),
            Err(_) => Err(lost(
                "SUBSCRIBE was accepted, but nothing is delivered (a proxy?)",
            )),
        }
    }

    async fn follow(&self, mut listener: Subscribed, said: &(dyn Fn(&str) + Send + Sync)) {
        loop {
            match timeout(SILENCE, listener.next()).await {
                Ok(Some(heard)) => said(&heard),
                Ok(None) => return,
                Err(_) => {
                    let ping = redis::cmd("PING");
                    let answer: RedisResult<Value> =
                        ping.query_async(&mut listener.connection).await;
                    if answer.is_err() {
                        return;
                    }
                }
            }
        }
    }
}

impl Subscribed {
    /// What is said next; `None` once the connection is lost.
    async fn next(&mut self) -> Option<String> {
        loop {
            let pushed = self.pushed.recv().await?;
            match (pushed.kind, pushed.data.last()) {
                (PushKind::Message, Some(Value::BulkString(said))) => {
                    return Some(String::from_utf8_lossy(said).into_owned());
                }
                (PushKind::Disconnection, _) => return None,
                _ => {}
            }
        }
    }
}
