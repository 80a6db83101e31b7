//! The command line.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::store::Store;

/// An enum whose variants have a name on the command line.
macro_rules! named {
    ($(#[$meta:meta])* $enum:ident { $($variant:ident = $name:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $enum { $($variant,)+ }

        impl $enum {
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            fn parse(text: &str) -> Result<Self> {
                match text {
                    $($name => Ok(Self::$variant),)+
                    other => bail!("{other:?} is none of: {}", [$($name),+].join(", ")),
                }
            }
        }
    };
}

named!(Measurement {
    Throughput = "throughput",
    Enqueue = "enqueue",
    Latency = "latency",
    Idle = "idle",
    Leases = "leases",
    Heartbeat = "heartbeat",
    Backlog = "backlog",
    Fleet = "fleet",
    Takeover = "takeover",
    Micro = "micro",
    Churn = "churn",
    // What the others start: see `process`.
    Enqueuer = "enqueuer",
    Worker = "worker",
});

named!(System {
    Tasklock = "tasklock",
    Raw = "raw",
    GraphileWorker = "graphile_worker",
    Apalis = "apalis",
    Sqlxmq = "sqlxmq",
    Underway = "underway",
    Fang = "fang",
});

named!(
    /// Which tasks a worker has.
    Tasks {
        Jobs = "jobs",
        Waiting = "waiting",
        Held = "held",
        Hourly = "hourly",
        Ticking = "ticking",
        Churning = "churning",
    }
);

#[derive(Debug, Clone)]
pub struct Options {
    pub measurement: Measurement,
    pub system: System,
    pub url: Option<String>,
    pub jobs: u32,
    /// `None`: what the system has by itself.
    pub slots: Option<usize>,
    pub batch: u32,
    pub keep: bool,
    pub across: bool,
    pub minutes: u32,
    pub tasks: Tasks,
}

impl Options {
    pub fn from_arguments() -> Result<Self> {
        let mut arguments = std::env::args().skip(1);
        let measurement = arguments.next();
        let measurement = Measurement::parse(&measurement.unwrap_or_default())
            .context("the first argument is the measurement")?;
        let (mut system, mut url, mut jobs) = (None, None, None);
        let (mut slots, mut batch, mut keep, mut across) = (Some(16), 100, false, false);
        let (mut minutes, mut tasks) = (60, Tasks::Jobs);
        while let Some(name) = arguments.next() {
            match &*name {
                "--keep" => {
                    keep = true;
                    continue;
                }
                "--across" => {
                    across = true;
                    continue;
                }
                _ => {}
            }
            let value = arguments
                .next()
                .with_context(|| format!("{name} needs a value"))?;
            let number = || {
                let number = value.parse::<u32>().ok().filter(|number| *number > 0);
                number.with_context(|| format!("{name} takes a number from 1, not {value:?}"))
            };
            match (&*name, &*value) {
                ("--system", _) => system = Some(System::parse(&value).context("--system")?),
                ("--tasks", _) => tasks = Tasks::parse(&value).context("--tasks")?,
                ("--slots", "default") => slots = None,
                ("--slots", _) => slots = Some(number()? as usize),
                ("--jobs", _) => jobs = Some(number()?),
                ("--batch", _) => batch = number()?,
                ("--minutes", _) => minutes = number()?,
                ("--url", _) => url = Some(value),
                _ => bail!("no such option: {name}"),
            }
        }
        let usual = match measurement {
            Measurement::Heartbeat => 10_000,
            Measurement::Backlog => 5_000_000,
            Measurement::Churn => 500,
            _ => 20_000,
        };
        if url.is_none() && measurement != Measurement::Micro {
            bail!(
                "--url is missing: of a Postgres or MariaDB database, a SQLite file or a Redis server"
            );
        }
        if let Some(url) = &url {
            Store::of(url)?.offers(measurement)?;
        }
        Ok(Self {
            measurement,
            system: system.context("--system is missing")?,
            url,
            jobs: jobs.unwrap_or(usual),
            slots,
            batch,
            keep,
            across,
            minutes,
            tasks,
        })
    }

    /// The figures, with what they are of.
    pub fn with(&self, figures: Value) -> Value {
        let store = self.url.as_deref().map(Store::of);
        let store = store.and_then(Result::ok).map_or("none", Store::name);
        let mut line = json!({
            "measurement": self.measurement.name(),
            "system": self.system.name(),
            "store": store,
            "jobs": self.jobs,
            "slots": self.slots,
            "keep": self.keep,
            "across": self.across,
        });
        if self.measurement == Measurement::Churn {
            line["minutes"] = self.minutes.into();
        }
        if self.system == System::Raw {
            line["batch"] = self.batch.into();
        }
        if let (Value::Object(line), Value::Object(figures)) = (&mut line, figures) {
            line.extend(figures);
        }
        line
    }
}
