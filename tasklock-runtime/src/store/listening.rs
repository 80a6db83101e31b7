//! Announcements that a server delivers to whoever listens: by LISTEN and NOTIFY, or by SUBSCRIBE and PUBLISH.

use std::fmt::Display;
use std::future::Future;
use std::time::Duration;

use tokio::time::sleep;

use super::{News, Wake, announced};

/// How long the announcement of our own may take to come back.
pub(super) const PROBE: Duration = Duration::from_secs(5);
const FIRST_RETRY: Duration = Duration::from_millis(200);
/// Where nothing is delivered at all, asking again must cost nothing that counts.
const LAST_RETRY: Duration = Duration::from_secs(60);

/// What a listener hears.
pub(super) enum Heard<'a> {
    /// An announcement.
    Said(&'a str),
    /// Announcements arrive from now on.
    Live,
    /// They do not for the time being.
    Deaf,
}

impl Heard<'_> {
    /// On the channel of work.
    pub(super) fn wake(self) -> Option<Wake> {
        match self {
            Self::Said(said) => announced::heard(said),
            Self::Live => Some(Wake::Live),
            Self::Deaf => Some(Wake::Deaf),
        }
    }

    /// On the channel of names. What is neither a ticket's turn nor a name is another listener's look for itself.
    pub(super) fn news(self) -> Option<News> {
        match self {
            Self::Said(said) => match (said.strip_prefix('t'), said.strip_prefix('n')) {
                (Some(ticket), _) => Some(News::Turn(ticket.to_owned())),
                (_, Some(name)) => Some(News::Free(name.to_owned())),
                _ => None,
            },
            Self::Live => Some(News::Live),
            Self::Deaf => Some(News::Deaf),
        }
    }
}

/// A way to listen.
pub(super) trait Listen: Send + Sync {
    /// A connection that listens.
    type Listener: Send;
    /// Why there is none.
    type Error: Display + Send;

    /// Listens, and has heard an announcement that was sent on another connection.
    fn listen(&self) -> impl Future<Output = Result<Self::Listener, Self::Error>> + Send;

    /// Tells what is said, until the connection is lost.
    fn follow(
        &self,
        listener: Self::Listener,
        said: &(dyn Fn(&str) + Send + Sync),
    ) -> impl Future<Output = ()> + Send;
}

/// Listens for ever, and reconnects.
pub(super) async fn watch(listening: impl Listen, hear: impl Fn(Heard<'_>) + Send + Sync) {
    let mut retry = FIRST_RETRY;
    let mut warned = false;
    loop {
        match listening.listen().await {
            Ok(listener) => {
                retry = FIRST_RETRY;
                warned = false;
                // What was announced before this moment may have been missed: look once more.
                hear(Heard::Live);
                listening
                    .follow(listener, &|said| hear(Heard::Said(said)))
                    .await;
                tracing::debug!("the listening connection was lost");
            }
            Err(error) => {
                if !warned {
                    tracing::warn!("announcements do not arrive, polling instead: {error}");
                }
                warned = true;
            }
        }
        hear(Heard::Deaf);
        sleep(retry).await;
        retry = (retry * 2).min(LAST_RETRY);
    }
}
