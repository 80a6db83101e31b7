//! One client's connection through the proxy.

use std::future::pending;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::sync::watch;
use tokio::time;

use super::Shared;
use super::counts::Counter;
use super::mode::{Direction, Fate, Mode};

/// Why a connection ends before both of its sides have closed it.
enum End {
    /// Both sides are reset.
    Reset,
    /// The client sees an orderly end, after what it has got; the server a reset.
    Cut,
}

pub(super) async fn serve(
    mut client: TcpStream,
    shared: Arc<Shared>,
    mut resets: watch::Receiver<u64>,
) {
    let refused = shared.setting.borrow().mode == Mode::Refuse;
    let server = if refused {
        None
    } else {
        TcpStream::connect(shared.target).await.ok()
    };
    let Some(mut server) = server else {
        shared.counters.refused.add(1);
        reset(client);
        return;
    };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    shared.counters.connections.add(1);
    // Counted when this is dropped, also together with the whole proxy.
    let _open = Open(&shared.counters.closed);
    let end = {
        let ((from_client, to_client), (from_server, to_server)) = (client.split(), server.split());
        let requests = pump(from_client, to_server, Direction::Requests, &shared);
        let replies = pump(from_server, to_client, Direction::Replies, &shared);
        tokio::select! {
            // First, so that a reset is not overtaken by bytes that wait.
            biased;
            _ = resets.changed() => Err(End::Reset),
            end = async { tokio::try_join!(requests, replies) } => end.map(drop),
        }
    };
    match end {
        Ok(()) => {}
        Err(End::Cut) => {
            // Before the drop, which would be a reset if the client has sent more meanwhile.
            let _ = client.shutdown().await;
            reset(server);
        }
        Err(End::Reset) => {
            reset(client);
            reset(server);
        }
    }
}

/// Passes on what one side sends, as the mode wants it, until that side closes its direction.
async fn pump(
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    direction: Direction,
    shared: &Shared,
) -> Result<(), End> {
    let (passed, lost) = counters(shared, direction);
    let mut settings = shared.setting.subscribe();
    // The mode under which bytes are counted for a cut, and how many there were.
    let (mut counted_under, mut count) = (0, 0);
    let mut piece = vec![0; 64 * 1024];
    loop {
        let read = from.read(&mut piece).await.map_err(|_| End::Reset)?;
        let (setting, fate) = loop {
            let setting = *settings.borrow_and_update();
            match setting.mode.fate(direction) {
                Fate::Hold => settings.changed().await.map_err(|_| End::Reset)?,
                fate => break (setting, fate),
            }
        };
        if counted_under != setting.number {
            (counted_under, count) = (setting.number, 0);
        }
        let mut passing = read;
        match fate {
            Fate::Pass | Fate::Hold => {}
            Fate::PassAfter(delay) => time::sleep(delay).await,
            Fate::Lose => {
                lost.add(read);
                return lose_the_rest(from, lost).await;
            }
            Fate::PassUpTo(after) => {
                let left = usize::try_from(after.saturating_sub(count)).unwrap_or(usize::MAX);
                passing = read.min(left);
            }
        }
        to.write_all(&piece[..passing])
            .await
            .map_err(|_| End::Reset)?;
        passed.add(passing);
        count += passing as u64;
        if matches!(fate, Fate::PassUpTo(after) if count >= after) {
            return Err(End::Cut);
        }
        if read == 0 {
            // The other direction may go on.
            let _ = to.shutdown().await;
            return Ok(());
        }
    }
}

/// A direction from which bytes are missing carries nothing any more, not even its end.
async fn lose_the_rest(mut from: ReadHalf<'_>, lost: &Counter) -> Result<(), End> {
    let mut piece = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut piece).await {
        lost.add(read);
    }
    pending().await
}

fn counters(shared: &Shared, direction: Direction) -> (&Counter, &Counter) {
    let counters = &shared.counters;
    match direction {
        Direction::Requests => (&counters.requests, &counters.lost_requests),
        Direction::Replies => (&counters.replies, &counters.lost_replies),
    }
}

/// Closes a connection with RST instead of FIN.
fn reset(stream: TcpStream) {
    // A failure means that it is gone already.
    let _ = rustix::net::sockopt::set_socket_linger(&stream, Some(std::time::Duration::ZERO));
}

struct Open<'a>(&'a Counter);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.add(1);
    }
}
