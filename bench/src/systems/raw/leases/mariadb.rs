//! On MariaDB.

use anyhow::{Result, ensure};
use sqlx::mysql::{MySqlPool, MySqlPoolOptions};

use super::{CYCLES, Leases};
use crate::systems::raw::OWNER;

const TABLE: &str = "CREATE TABLE raw_lease (name varchar(64) PRIMARY KEY, owner varchar(64), fence bigint NOT NULL,
        until datetime(6) NOT NULL) ENGINE = InnoDB";
/// In this order: an assignment sees those before it.
const ACQUIRE: &str = "INSERT INTO raw_lease (name, owner, fence, until)
    VALUES (?, ?, 1, utc_timestamp(6) + INTERVAL 30 SECOND)
    ON DUPLICATE KEY UPDATE fence = IF(owner IS NULL OR until < utc_timestamp(6), fence + 1, fence),
        owner = IF(owner IS NULL OR until < utc_timestamp(6), VALUES(owner), owner),
        until = IF(owner = VALUES(owner), VALUES(until), until)
    RETURNING fence, owner";
const RELEASE: &str = "UPDATE raw_lease SET owner = NULL, until = utc_timestamp(6)
    WHERE name = ? AND owner = ? AND fence = ?";

#[derive(Clone)]
pub struct MariaDb(MySqlPool);

impl Leases for MariaDb {
    async fn install(url: &str, callers: u32) -> Result<Self> {
        let pool = MySqlPoolOptions::new()
            .min_connections(callers)
            .max_connections(callers);
        let pool = pool.connect(url).await?;
        sqlx::raw_sql(TABLE).execute(&pool).await?;
        Ok(Self(pool))
    }

    async fn cycles(&self, caller: u32) -> Result<()> {
        let name = format!("name {caller}");
        let owner = format!("{OWNER} {caller}");
        let mut connection = self.0.acquire().await?;
        for _ in 0..CYCLES {
            let acquire = sqlx::query_as(ACQUIRE).bind(&name).bind(&owner);
            let (fence, holder): (i64, String) = acquire.fetch_one(&mut *connection).await?;
            ensure!(holder == owner, "nobody else has it");
            let release = sqlx::query(RELEASE).bind(&name).bind(&owner).bind(fence);
            release.execute(&mut *connection).await?;
        }
        Ok(())
    }
}
