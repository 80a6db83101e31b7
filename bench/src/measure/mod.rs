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
use crate::place::{Place, is_sqlite};
use crate::systems::tasklock::Tasklock;
use crate::systems::{System, raw};

/// The figures of the measurement that the options name; a process that another one has started has none.
pub async fn figures(options: &Options, place: &Place) -> Result<Option<Value>> {
    let sqlite = options.url.as_deref().is_some_and(is_sqlite);
    if sqlite
        && matches!(
            options.measurement,
            Measurement::Heartbeat | Measurement::Fleet | Measurement::Churn
        )
    {
        bail!(
            "{} is counted by a Postgres server",
            options.measurement.name()
        );
    }
    match (options.system, sqlite) {
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
        (Name::Raw, false) if options.measurement == Measurement::Leases => {
            leases::raw(place).await.map(Some)
        }
        (Name::Raw, false) => of::<raw::Postgres>(options, place).await,
        (Name::Raw, true) => of::<raw::Sqlite>(options, place).await,
        _ => peer(options, place, sqlite).await,
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
async fn peer(options: &Options, _place: &Place, _sqlite: bool) -> Result<Option<Value>> {
    bail!(
        "{} is not built in: build with --features peers",
        options.system.name()
    )
}

#[cfg(feature = "peers")]
async fn peer(options: &Options, place: &Place, sqlite: bool) -> Result<Option<Value>> {
    use crate::systems::{apalis, fang, graphile_worker, sqlxmq, underway};

    match (options.system, sqlite) {
        (Name::Apalis, true) => of::<apalis::Sqlite>(options, place).await,
        (Name::Apalis, false) => of::<apalis::Postgres>(options, place).await,
        (Name::Fang, _) => of::<fang::Fang>(options, place).await,
        (_, true) => bail!("{} has no SQLite store", options.system.name()),
        (Name::GraphileWorker, false) => {
            of::<graphile_worker::GraphileWorker>(options, place).await
        }
        (Name::Sqlxmq, false) => of::<sqlxmq::Sqlxmq>(options, place).await,
        (Name::Underway, false) => of::<underway::Underway>(options, place).await,
        (Name::Tasklock | Name::Raw, _) => unreachable!("they are no peers"),
    }
}
