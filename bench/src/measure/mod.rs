//! What is measured, each in a file.

mod backlog;
mod churn;
mod enqueue;
mod fleet;
mod heartbeat;
mod idle;
mod latency;
mod leases;
mod micro;
mod roles;
mod takeover;
mod throughput;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::options::{Measurement, Options, System as Name};
use crate::place::Place;
use crate::store::Store;
use crate::systems::tasklock::Tasklock;
use crate::systems::{System, raw};

/// The figures of the measurement that the options name; a process that another one has started has none.
pub async fn figures(options: &Options, place: &Place) -> Result<Option<Value>> {
    let store = options.url.as_deref().map(Store::of).transpose()?;
    match (options.system, store) {
        (Name::Tasklock, _) => match options.measurement {
            Measurement::Leases => leases::tasklock(options, place).await.map(Some),
            Measurement::Heartbeat => heartbeat::figures(options, place).await.map(Some),
            Measurement::Backlog => backlog::figures(options, place).await.map(Some),
            Measurement::Fleet => fleet::figures(options, place).await.map(Some),
            Measurement::Takeover => takeover::figures(options, place).await.map(Some),
            Measurement::Churn => churn::figures(options, place).await.map(Some),
            Measurement::Micro => micro::figures().await.map(Some),
            Measurement::Worker => roles::worker(options).await.map(|()| None),
            _ => of::<Tasklock>(options, place).await,
        },
        (_, None) => bail!("{} needs a --url", options.system.name()),
        (Name::Raw, Some(store)) if options.measurement == Measurement::Leases => {
            raw_leases(place, store).await.map(Some)
        }
        (Name::Raw, Some(Store::Postgres)) => of::<raw::Postgres>(options, place).await,
        (Name::Raw, Some(Store::Sqlite)) => of::<raw::Sqlite>(options, place).await,
        (Name::Raw, Some(Store::MariaDb)) => {
            if options.across || options.measurement == Measurement::Idle {
                bail!("raw on MariaDB hears of nothing but what its own process writes");
            }
            of::<raw::MariaDb>(options, place).await
        }
        (Name::Raw, Some(Store::Redis)) => of::<raw::Redis>(options, place).await,
        (_, Some(store)) => peer(options, place, store).await,
    }
}

async fn raw_leases(place: &Place, store: Store) -> Result<Value> {
    match store {
        Store::Postgres => leases::raw::<raw::leases::Postgres>(place).await,
        Store::MariaDb => leases::raw::<raw::leases::MariaDb>(place).await,
        Store::Redis => leases::raw::<raw::leases::Redis>(place).await,
        Store::Sqlite => bail!("leases of raw is not measured on sqlite"),
    }
}

/// What all systems have.
async fn of<S: System>(options: &Options, place: &Place) -> Result<Option<Value>> {
    Ok(Some(match options.measurement {
        Measurement::Throughput => throughput::figures::<S>(options, place).await?,
        Measurement::Enqueue => enqueue::figures::<S>(options, place).await?,
        Measurement::Latency => latency::figures::<S>(options, place).await?,
        Measurement::Idle => idle::figures::<S>(options, place).await?,
        Measurement::Enqueuer => {
            roles::enqueuer::<S>(options).await?;
            return Ok(None);
        }
        other => bail!(
            "{} of {} is not measured",
            other.name(),
            options.system.name()
        ),
    }))
}

#[cfg(not(feature = "peers"))]
async fn peer(options: &Options, _place: &Place, _store: Store) -> Result<Option<Value>> {
    bail!(
        "{} is not built in: build with --features peers",
        options.system.name()
    )
}

#[cfg(feature = "peers")]
async fn peer(options: &Options, place: &Place, store: Store) -> Result<Option<Value>> {
    use crate::systems::{apalis, fang, graphile_worker, sqlxmq, underway};

    match (options.system, store) {
        (Name::Apalis, Store::Sqlite) => of::<apalis::Sqlite>(options, place).await,
        (Name::Apalis, Store::Postgres) => of::<apalis::Postgres>(options, place).await,
        (Name::Fang, Store::Sqlite | Store::Postgres) => of::<fang::Fang>(options, place).await,
        (Name::GraphileWorker, Store::Postgres) => {
            of::<graphile_worker::GraphileWorker>(options, place).await
        }
        (Name::Sqlxmq, Store::Postgres) => of::<sqlxmq::Sqlxmq>(options, place).await,
        (Name::Underway, Store::Postgres) => of::<underway::Underway>(options, place).await,
        (system, store) => bail!("{} is not measured on {}", system.name(), store.name()),
    }
}
