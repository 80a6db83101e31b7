//! This process, and others that it starts: the same program, told by lines what to do.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use rustix::time::{ClockId, clock_gettime};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::options::{Options, Tasks};

/// The processor time that this process has used.
pub fn cpu() -> Duration {
    read(ClockId::ProcessCPUTime)
}

/// The memory that this process has, in bytes.
pub fn resident() -> Result<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm")?;
    let pages = statm.split(' ').nth(1).context("statm has two figures")?;
    Ok(pages.parse::<u64>()? * rustix::param::page_size() as u64)
}

/// Now, by a clock that all processes of this machine share.
pub fn now() -> Duration {
    read(ClockId::Monotonic)
}

/// Since 1970.
pub fn today() -> Duration {
    read(ClockId::Realtime)
}

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// Another process of this program. It ends when its input does, or when this one drops it.
pub struct Other {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Other {
    /// One that enqueues.
    pub async fn enqueuer(options: &Options, url: &str) -> Result<Self> {
        Self::start("enqueuer", options, url, options.tasks).await
    }

    /// One that runs tasklock's tasks, once it is told to.
    pub async fn worker(options: &Options, url: &str, tasks: Tasks) -> Result<Self> {
        Self::start("worker", options, url, tasks).await
    }

    async fn start(role: &str, options: &Options, url: &str, tasks: Tasks) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([role, "--system", options.system.name(), "--url", url]);
        command.args(["--tasks", tasks.name()]);
        let slots = options.slots.map(|slots| slots.to_string());
        command.args(["--slots", slots.as_deref().unwrap_or("default")]);
        if options.keep {
            command.arg("--keep");
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.kill_on_drop(true).spawn()?;
        let input = child.stdin.take().context("it has an input")?;
        let output = child.stdout.take().context("it has an output")?;
        let mut other = Self {
            child,
            input,
            output: BufReader::new(output).lines(),
        };
        other.hear("ready").await?;
        Ok(other)
    }

    pub async fn tell(&mut self, line: &str) -> Result<()> {
        self.input.write_all(format!("{line}\n").as_bytes()).await?;
        Ok(self.input.flush().await?)
    }

    /// What comes after this word in the next line.
    pub async fn hear(&mut self, word: &str) -> Result<String> {
        let line = self.output.next_line().await?;
        let line = line.with_context(|| format!("the other process ended before {word:?}"))?;
        let rest = line.strip_prefix(word);
        let rest = rest.with_context(|| format!("the other process said {line:?}"))?;
        Ok(rest.trim().to_owned())
    }

    pub fn signal(&self, signal: Signal) -> Result<()> {
        let id = self.child.id().context("it runs")?;
        let id = Pid::from_raw(i32::try_from(id)?).context("it has an id")?;
        Ok(kill_process(id, signal)?)
    }

    /// Lets it come to its end.
    pub async fn finish(self) -> Result<()> {
        let Self {
            mut child, input, ..
        } = self;
        drop(input);
        child.wait().await?;
        Ok(())
    }
}
