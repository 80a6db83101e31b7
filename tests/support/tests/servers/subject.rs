//! What the cases ask of any kind of server.

use ::redis::AsyncConnectionConfig;
use ::redis::aio::MultiplexedConnection;
use sqlx::mysql::MySqlConnection;
use sqlx::{Connection, MySql, PgConnection, Postgres};
use tasklock_test_support::redis::Redis;
use tasklock_test_support::server::Kind;

/// A kind of server to which things are added, and which counts them.
pub(crate) trait Subject: Kind {
    /// Whether they are there after a restart.
    const KEEPS: bool = true;

    type Connection: Send;

    async fn connect(url: &str) -> Result<Self::Connection, String>;

    async fn add(connection: &mut Self::Connection) -> Result<(), String>;

    async fn count(connection: &mut Self::Connection) -> Result<i64, String>;

    async fn connected(url: &str) -> Self::Connection {
        Self::connect(url).await.unwrap()
    }
}

macro_rules! subject {
    ($kind:ty, $connection:ty) => {
        impl Subject for $kind {
            type Connection = $connection;

            async fn connect(url: &str) -> Result<$connection, String> {
                said(<$connection>::connect(url).await)
            }

            async fn add(connection: &mut $connection) -> Result<(), String> {
                let statements = "create table if not exists kept (id int);
                    insert into kept values (1)";
                said(
                    sqlx::raw_sql(statements)
                        .execute(connection)
                        .await
                        .map(drop),
                )
            }

            async fn count(connection: &mut $connection) -> Result<i64, String> {
                let counting = sqlx::query_scalar("select count(*) from kept");
                said(counting.fetch_one(connection).await)
            }
        }
    };
}

subject!(Postgres, PgConnection);
subject!(MySql, MySqlConnection);

impl Subject for Redis {
    const KEEPS: bool = false;

    type Connection = MultiplexedConnection;

    async fn connect(url: &str) -> Result<MultiplexedConnection, String> {
        // The usual bounds are too short for a paused server.
        let config = AsyncConnectionConfig::new().set_response_timeout(None);
        let client = said(::redis::Client::open(url))?;
        said(
            client
                .get_multiplexed_async_connection_with_config(&config)
                .await,
        )
    }

    async fn add(connection: &mut MultiplexedConnection) -> Result<(), String> {
        said(
            ::redis::cmd("RPUSH")
                .arg("kept")
                .arg(1)
                .exec_async(connection)
                .await,
        )
    }

    async fn count(connection: &mut MultiplexedConnection) -> Result<i64, String> {
        said(
            ::redis::cmd("LLEN")
                .arg("kept")
                .query_async(connection)
                .await,
        )
    }
}

fn said<T, E: std::error::Error>(result: Result<T, E>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}
