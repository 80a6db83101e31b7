//! Redis: the numbered databases of a server, of which an empty one is taken for a measurement.

use anyhow::{Context, Result, bail};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, IntoConnectionInfo, ProtocolVersion, PushInfo, PushKind};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::{Counts, named};

/// Says in a database whose it is.
const MARK: &str = "tasklock_bench";
/// What a server has unless it is told otherwise.
const DATABASES: u32 = 16;

pub async fn connect(url: &str) -> Result<MultiplexedConnection> {
    let client = redis::Client::open(url)?;
    // Jobs are enqueued by the thousand in one call: it has its time.
    let config = AsyncConnectionConfig::new().set_response_timeout(None);
    Ok(client
        .get_multiplexed_async_connection_with_config(&config)
        .await?)
}

/// A connection that hears this channel: something comes for each message. It lasts as long as the connection.
pub async fn subscribe(
    url: &str,
    channel: &str,
) -> Result<(MultiplexedConnection, UnboundedReceiver<()>)> {
    let info = url.into_connection_info()?;
    let redis = info.redis_settings().clone();
    let info = info.set_redis_settings(redis.set_protocol(ProtocolVersion::RESP3));
    let (tell, heard) = unbounded_channel();
    let push = move |info: PushInfo| {
        if info.kind == PushKind::Message {
            let _ = tell.send(());
        }
        Ok::<_, redis::aio::SendError>(())
    };
    let config = AsyncConnectionConfig::new().set_push_sender(push);
    let client = redis::Client::open(info)?;
    let mut connection = client
        .get_multiplexed_async_connection_with_config(&config)
        .await?;
    connection.subscribe(channel).await?;
    Ok((connection, heard))
}

/// The URL of a database that was empty; none that holds anything is touched.
pub(super) async fn take_empty(url: &str) -> Result<String> {
    for number in 1..DATABASES {
        let url = named(url, &number.to_string());
        let mut connection = connect(&url).await?;
        let mut mark = redis::cmd("SET");
        mark.arg(MARK).arg(std::process::id()).arg("NX");
        let ours: Option<String> = mark.query_async(&mut connection).await?;
        let keys: u64 = redis::cmd("DBSIZE").query_async(&mut connection).await?;
        match (ours, keys) {
            (Some(_), 1) => return Ok(url),
            (Some(_), _) => {
                let mut unmark = redis::cmd("DEL");
                unmark.arg(MARK).exec_async(&mut connection).await?;
            }
            (None, _) => {}
        }
    }
    bail!("of the server's databases 1 to 15 none is empty")
}

pub(super) async fn give_back(url: &str) -> Result<()> {
    let mut connection = connect(url).await?;
    Ok(redis::cmd("FLUSHDB").exec_async(&mut connection).await?)
}

/// The scripts that were run, the time that the server took for them, and all commands, those of the scripts too.
pub(super) async fn counts(mut connection: MultiplexedConnection) -> Result<Counts> {
    let mut info = redis::cmd("INFO");
    info.arg("commandstats");
    let said: String = info.query_async(&mut connection).await?;
    let (mut scripts, mut micros, mut commands) = (0, 0, 0);
    for line in said.lines() {
        let Some((name, figures)) = line
            .strip_prefix("cmdstat_")
            .and_then(|line| line.split_once(':'))
        else {
            continue;
        };
        let figure = |name: &str| -> Result<i64> {
            let mut figures = figures.split(',');
            let figure = figures.find_map(|figure| figure.strip_prefix(name)?.strip_prefix('='));
            Ok(figure.context("INFO commandstats tells it")?.parse()?)
        };
        let calls = figure("calls")?;
        match name {
            // The one that asks.
            "info" => continue,
            "eval" | "evalsha" => {
                scripts += calls;
                micros += figure("usec")?;
            }
            _ => {}
        }
        commands += calls;
    }
    Ok(vec![
        ("scripts", scripts),
        ("script_us", micros),
        ("commands", commands),
    ])
}
