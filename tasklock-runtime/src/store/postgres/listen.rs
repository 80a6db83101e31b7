//! Announcements by LISTEN and NOTIFY.

use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::time::{sleep, timeout};

use crate::lease::OwnerToken;

/// How long the announcement of our own may take to come back.
const PROBE: Duration = Duration::from_secs(5);
const FIRST_RETRY: Duration = Duration::from_millis(200);
/// Where LISTEN does not work at all, asking again must cost nothing that counts.
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

/// Listens for ever, and reconnects.
pub(super) async fn watch(
    options: PgConnectOptions,
    pool: PgPool,
    channel: String,
    hear: impl Fn(Heard<'_>) + Send + Sync,
) {
    let mut retry = FIRST_RETRY;
    let mut warned = false;
    loop {
        match listen(&options, &pool, &channel).await {
            Ok(mut listener) => {
                retry = FIRST_RETRY;
                warned = false;
                // What was announced before this moment may have been missed: look once more.
                hear(Heard::Live);
                while let Ok(Some(announced)) = listener.try_recv().await {
                    hear(Heard::Said(announced.payload()));
                }
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

/// Listens, and has heard an announcement that was sent on another connection.
async fn listen(
    options: &PgConnectOptions,
    pool: &PgPool,
    channel: &str,
) -> Result<PgListener, sqlx::Error> {
    let own = PgPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(PROBE)
        .max_lifetime(None)
        .idle_timeout(None)
        .connect_lazy_with(options.clone());
    let mut listener = PgListener::connect_with(&own).await?;
    // A lost connection is to be told, not mended in silence: announcements were missed.
    listener.eager_reconnect(false);
    listener.listen(channel).await?;
    let probe = OwnerToken::fresh();
    sqlx::query("SELECT pg_notify($1, $2)")
        .bind(channel)
        .bind(probe.as_str())
        .execute(pool)
        .await?;
    let heard = async {
        while let Some(announcement) = listener.try_recv().await? {
            if announcement.payload() == probe.as_str() {
                return Ok(());
            }
        }
        Err(sqlx::Error::Protocol(
            "the listening connection was lost".into(),
        ))
    };
    match timeout(PROBE, heard).await {
        Ok(heard) => heard.map(|()| listener),
        Err(_) => Err(sqlx::Error::Protocol(
            "LISTEN was accepted, but nothing is delivered (a pooler in transaction mode?)".into(),
        )),
    }
}
