//! Announcements by LISTEN and NOTIFY.

use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::time::timeout;

use crate::lease::OwnerToken;
use crate::store::listening::{Listen, PROBE};

/// Who listens, and to what.
pub(super) struct Channel {
    pub(super) options: PgConnectOptions,
    /// For the announcement of our own.
    pub(super) pool: PgPool,
    pub(super) channel: String,
}

impl Listen for Channel {
    type Listener = PgListener;
    type Error = sqlx::Error;

    async fn listen(&self) -> Result<PgListener, sqlx::Error> {
        let own = PgPoolOptions::new()
            .max_connections(1)
            .acquire_timeout(PROBE)
            .max_lifetime(None)
            .idle_timeout(None)
            .connect_lazy_with(self.options.clone());
        let mut listener = PgListener::connect_with(&own).await?;
        // A lost connection is to be told, not mended in silence: announcements were missed.
        listener.eager_reconnect(false);
        listener.listen(&self.channel).await?;
        let probe = OwnerToken::fresh();
        sqlx::query("SELECT pg_notify($1, $2)")
            .bind(&self.channel)
            .bind(probe.as_str())
            .execute(&self.pool)
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
                "LISTEN was accepted, but nothing is delivered (a pooler in transaction mode?)"
                    .into(),
            )),
        }
    }

    async fn follow(&self, mut listener: PgListener, said: &(dyn Fn(&str) + Send + Sync)) {
        while let Ok(Some(announced)) = listener.try_recv().await {
            said(announced.payload());
        }
    }
}
