//! What another process of this program does, when one of the measurements has started it.

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncBufReadExt, BufReader, stdin};

use crate::options::Options;
use crate::process::now;
use crate::systems::tasklock::{self, builder};
use crate::systems::{System, Worker};

/// Enqueues as it is told, until its input ends: `one NUMBER`, or `many COUNT`. Says when that has returned.
pub async fn enqueuer<S: System>(options: &Options) -> Result<()> {
    let url = options.url.as_deref().context("it has a URL")?;
    let system = S::connect(url, options).await?;
    let mut lines = BufReader::new(stdin()).lines();
    println!("ready");
    while let Some(line) = lines.next_line().await? {
        match line.split_once(' ') {
            Some(("one", number)) => system.enqueue(number.parse()?).await?,
            Some(("many", count)) => system.enqueue_many(0..count.parse()?).await?,
            _ => bail!("it was told {line:?}"),
        }
        println!("at {}", now().as_nanos());
    }
    Ok(())
}

/// Runs tasklock's tasks from the first line on, until its input ends or a signal stops it.
pub async fn worker(options: &Options) -> Result<()> {
    let url = options.url.as_deref().context("it has a URL")?;
    let mut worker = tasklock::Worker::of(builder(url, options, options.tasks)).await?;
    let mut lines = BufReader::new(stdin()).lines();
    println!("ready");
    if lines.next_line().await?.is_none() {
        return Ok(());
    }
    worker.start().await?;
    tokio::select! {
        ended = worker.ended() => return ended,
        line = lines.next_line() => line?,
    };
    worker.stop().await
}
