//! The command line.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measurement {
    Throughput,
    Enqueue,
    Latency,
    Leases,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    Tasklock,
    Raw,
}

#[derive(Debug)]
pub struct Options {
    pub measurement: Measurement,
    pub system: System,
    pub url: String,
    pub jobs: u32,
    pub slots: usize,
    pub batch: u32,
    pub keep: bool,
}

impl Options {
    pub fn from_arguments() -> Result<Self> {
        let mut arguments = std::env::args().skip(1);
        let measurement = match arguments.next().as_deref() {
            Some("throughput") => Measurement::Throughput,
            Some("enqueue") => Measurement::Enqueue,
            Some("latency") => Measurement::Latency,
            Some("leases") => Measurement::Leases,
            other => {
                bail!("the measurement is throughput, enqueue, latency or leases, not {other:?}")
            }
        };
        let (mut system, mut url) = (None, None);
        let (mut jobs, mut slots, mut batch, mut keep) = (20_000, 16, 100, false);
        while let Some(name) = arguments.next() {
            if name == "--keep" {
                keep = true;
                continue;
            }
            let value = arguments
                .next()
                .with_context(|| format!("{name} needs a value"))?;
            match (&*name, &*value) {
                ("--system", "tasklock") => system = Some(System::Tasklock),
                ("--system", "raw") => system = Some(System::Raw),
                ("--url", _) => url = Some(value),
                ("--jobs", _) => jobs = value.parse()?,
                ("--slots", _) => slots = value.parse()?,
                ("--batch", _) => batch = value.parse()?,
                _ => bail!("no such option: {name} {value}"),
            }
        }
        Ok(Self {
            measurement,
            system: system.context("--system is missing: tasklock or raw")?,
            url: url.context("--url is missing: of a Postgres database that may be written to")?,
            jobs,
            slots,
            batch,
            keep,
        })
    }

    /// The figures, with what they are of.
    pub fn with(&self, figures: Value) -> Value {
        let mut line = json!({
            "measurement": format!("{:?}", self.measurement).to_lowercase(),
            "system": format!("{:?}", self.system).to_lowercase(),
            "jobs": self.jobs,
            "slots": self.slots,
            "keep": self.keep,
        });
        if self.system == System::Raw {
            line["batch"] = self.batch.into();
        }
        if let (Value::Object(line), Value::Object(figures)) = (&mut line, figures) {
            line.extend(figures);
        }
        line
    }
}
