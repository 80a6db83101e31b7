//! A connection to the server, opened when it is needed and again after it was lost.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionAddr, ConnectionInfo, ErrorKind, ProtocolVersion,
    PushInfo, PushKind, RedisError, RedisResult, ServerErrorKind, Value,
};
use tokio::sync::Mutex;

use super::args::Args;
use super::scripts::Script;

/// How long a connection may take to be opened.
pub(super) const CONNECT: Duration = Duration::from_secs(5);
/// How long an answer may take. No script does as much as that: whoever waits longer has lost the server.
const ANSWER: Duration = Duration::from_secs(5);
/// How often a call may be sent on to another node of a cluster.
const REDIRECTIONS: u32 = 3;

/// A way to the server, with one connection of its own: what several callers ask travels on it one after the other.
pub(super) struct Link {
    /// All keys are made of it.
    base: Arc<str>,
    open: Mutex<Open>,
}

struct Open {
    info: ConnectionInfo,
    connection: Option<(MultiplexedConnection, Alive)>,
}

/// Whether the server has not closed a connection, as far as is known.
type Alive = Arc<AtomicBool>;

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Link")
    }
}

/// Opens a connection. What the server says unasked, and that it is lost, goes to `push`; that is why it speaks RESP3.
pub(super) async fn connect(
    info: ConnectionInfo,
    push: impl Fn(PushInfo) + Send + Sync + 'static,
) -> RedisResult<MultiplexedConnection> {
    let redis = info.redis_settings().clone();
    let redis = redis.set_protocol(ProtocolVersion::RESP3);
    let push = move |info| {
        push(info);
        Ok::<_, redis::aio::SendError>(())
    };
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(CONNECT))
        .set_response_timeout(Some(ANSWER))
        .set_push_sender(push);
    let client = Client::open(info.set_redis_settings(redis))?;
    client
        .get_multiplexed_async_connection_with_config(&config)
        .await
}

impl Link {
    pub(super) fn new(info: ConnectionInfo, base: Arc<str>) -> Self {
        let connection = None;
        let open = Mutex::new(Open { info, connection });
        Self { base, open }
    }

    /// Runs a script by its hash; by its text where the server does not know it: it is new there, or somebody has flushed its
    /// scripts.
    pub(super) async fn run(&self, script: &Script, args: Args) -> RedisResult<Value> {
        let call = |how: &str, script: &str| {
            let mut call = redis::cmd(how);
            call.arg(script).arg(1).arg(&*self.base).arg(args.all());
            call
        };
        let by_hash = call("EVALSHA", &script.hash);
        let mut redirections = 0;
        loop {
            let mut connection = self.connection().await?;
            let mut answer = by_hash.query_async(&mut connection).await;
            let unknown = ErrorKind::Server(ServerErrorKind::NoScript);
            if matches!(&answer, Err(error) if error.kind() == unknown) {
                let by_text = call("EVAL", &script.text);
                answer = by_text.query_async(&mut connection).await;
            }
            let error = match answer {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            redirections += 1;
            if redirections > REDIRECTIONS || !self.is_sent_on(&error).await {
                return Err(self.noted(error).await);
            }
        }
    }

    /// Any other command.
    pub(super) async fn command(&self, command: &Cmd) -> RedisResult<Value> {
        let mut connection = self.connection().await?;
        match command.query_async(&mut connection).await {
            Ok(answer) => Ok(answer),
            Err(error) => Err(self.noted(error).await),
        }
    }

    /// The one that is open, if the server has not closed it meanwhile: a call that would be sent in vain is not worth trying
    /// again, for nobody knows whether it was.
    pub(super) async fn connection(&self) -> RedisResult<MultiplexedConnection> {
        let mut open = self.open.lock().await;
        if let Some((connection, alive)) = &open.connection
            && alive.load(Ordering::Relaxed)
        {
            return Ok(connection.clone());
        }
        let alive = Alive::new(AtomicBool::new(true));
        let watched = Arc::clone(&alive);
        let push = move |info: PushInfo| {
            if info.kind == PushKind::Disconnection {
                watched.store(false, Ordering::Relaxed);
            }
        };
        let connection = connect(open.info.clone(), push).await?;
        open.connection = Some((connection.clone(), alive));
        Ok(connection)
    }

    pub(super) async fn forget(&self) {
        self.open.lock().await.connection = None;
    }

    /// A connection that is lost, or leads to a server that was the primary, is not used again.
    async fn noted(&self, error: RedisError) -> RedisError {
        let lost = error.is_io_error() || error.is_timeout() || error.is_connection_dropped();
        if lost || error.code() == Some("READONLY") {
            self.forget().await;
        }
        error
    }

    /// In a cluster, the node that has our slot says so when it is another one.
    async fn is_sent_on(&self, error: &RedisError) -> bool {
        let node = error.redirect_node().map(|(node, _)| node.rsplit_once(':'));
        let (Some("MOVED"), Some(Some((host, port)))) = (error.code(), node) else {
            return false;
        };
        let Ok(port) = port.parse() else {
            return false;
        };
        let mut open = self.open.lock().await;
        let addr = match open.info.addr().clone() {
            ConnectionAddr::Tcp(..) => ConnectionAddr::Tcp(host.to_owned(), port),
            ConnectionAddr::TcpTls {
                insecure,
                tls_params,
                ..
            } => ConnectionAddr::TcpTls {
                host: host.to_owned(),
                port,
                insecure,
                tls_params,
            },
            _ => return false,
        };
        open.info = open.info.clone().set_addr(addr);
        open.connection = None;
        true
    }
}
