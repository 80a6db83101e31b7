//! On Postgres.

use anyhow::{Context, Result};
use sqlx::postgres::{PgPool, PgPoolOptions};

use super::{CYCLES, Leases};
use crate::systems::raw::OWNER;

const TABLE: &str =
    "CREATE TABLE raw_lease (name text PRIMARY KEY, owner text, fence bigint NOT NULL,
        until timestamptz NOT NULL)";
const ACQUIRE: &str = "INSERT INTO raw_lease AS l (name, owner, fence, until) VALUES ($1, $2, 1, now() + interval '30 s')
    ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, fence = l.fence + 1, until = excluded.until
    WHERE l.owner IS NULL OR l.until < now() RETURNING fence";
const RELEASE: &str = "UPDATE raw_lease SET owner = NULL, until = now()
    WHERE name = $1 AND owner = $2 AND fence = $3";

#[derive(Clone)]
pub struct Postgres(PgPool);

impl Leases for Postgres {
    async fn install(url: &str, callers: u32) -> Result<Self> {
        let pool = PgPoolOptions::new()
            .min_connections(callers)
            .max_connections(callers);
        let pool = pool.connect(url).await?;
        sqlx::raw_sql(TABLE).execute(&pool).await?;
        Ok(Self(pool))
    }

    async fn cycles(&self, caller: u32) -> Result<()> {
        let name = format!("name {caller}");
        let mut connection = self.0.acquire().await?;
        for _ in 0..CYCLES {
            let acquire = sqlx::query_scalar(ACQUIRE).bind(&name).bind(OWNER);
            let fence: Option<i64> = acquire.fetch_optional(&mut *connection).await?;
            let fence = fence.context("nobody else has it")?;
            let release = sqlx::query(RELEASE).bind(&name).bind(OWNER).bind(fence);
            release.execute(&mut *connection).await?;
        }
        Ok(())
    }
}
