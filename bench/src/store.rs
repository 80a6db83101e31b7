//! The databases that are measured.

use anyhow::{Result, bail};

use crate::options::Measurement;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Store {
    Postgres,
    Sqlite,
    MariaDb,
    Redis,
}

impl Store {
    pub fn of(url: &str) -> Result<Self> {
        match url.split_once(':').map_or("", |(scheme, _)| scheme) {
            "postgres" | "postgresql" => Ok(Self::Postgres),
            "sqlite" => Ok(Self::Sqlite),
            "mysql" | "mariadb" => Ok(Self::MariaDb),
            "redis" => Ok(Self::Redis),
            _ => bail!("--url is none of postgres://…, sqlite:…, mysql://… and redis://…"),
        }
    }

    /// As it stands in the results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Sqlite => "sqlite",
            Self::MariaDb => "mariadb",
            Self::Redis => "redis",
        }
    }

    /// Refuses a measurement that reads what this store does not tell.
    pub fn offers(self, measurement: Measurement) -> Result<()> {
        let reason = match measurement {
            Measurement::Churn if self != Self::Postgres => {
                "it reads the sizes and the dead rows that a Postgres server counts"
            }
            Measurement::Heartbeat | Measurement::Fleet if self == Self::Sqlite => {
                "it reads a server's counts, and a file has none"
            }
            _ => return Ok(()),
        };
        bail!(
            "{} is not measured on {}: {reason}",
            measurement.name(),
            self.name()
        )
    }

    /// Whether the counts are those of the whole server, and not of one database: then one thing is measured at a time.
    pub fn counts_all(self) -> bool {
        matches!(self, Self::MariaDb | Self::Redis)
    }
}

pub fn is_sqlite(url: &str) -> bool {
    matches!(Store::of(url), Ok(Store::Sqlite))
}
