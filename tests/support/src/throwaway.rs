//! The owner's side of `scripts/lib/throwaway`, which keeps one server while its input is open.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/lib/throwaway");

/// One prepared server; stopped and removed on drop, and when this process ends in whatever way.
#[derive(Debug)]
pub(crate) struct Throwaway {
    keeper: Child,
    /// `None` only while it is dropped.
    commands: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// A server that has been started.
#[derive(Debug, Clone)]
pub(crate) struct Started {
    pub(crate) pid: i32,
    pub(crate) url: String,
}

impl Throwaway {
    /// Prepares a server of this kind (`postgres`), with these variables for the scripts. It blocks for about a second.
    pub(crate) fn prepare(
        kind: &str,
        surroundings: &[(&'static str, String)],
    ) -> Result<Throwaway, String> {
        let mut keeper = Command::new("sh")
            .args([PROGRAM, kind])
            .envs(surroundings.iter().map(|(name, value)| (name, value)))
            // Ctrl-C is for the tests; the keeper hears of it by the end of its input.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot run sh {PROGRAM}: {error}"))?;
        let commands = keeper.stdin.take();
        let answers = BufReader::new(keeper.stdout.take().expect("it is piped"));
        let mut throwaway = Throwaway {
            keeper,
            commands,
            answers,
        };
        throwaway.answer()?;
        Ok(throwaway)
    }

    /// Starts it, on the same port each time, and waits until it accepts connections.
    pub(crate) fn start(&mut self) -> Result<Started, String> {
        let answer = self.command("start")?;
        let (pid, url) = answer
            .split_once(' ')
            .ok_or_else(|| format!("no URL in {answer:?}"))?;
        let pid = pid
            .parse()
            .map_err(|_| format!("no process id in {answer:?}"))?;
        Ok(Started {
            pid,
            url: url.to_owned(),
        })
    }

    /// Stops it in this way and waits until it has ended.
    pub(crate) fn stop(&mut self, mode: &str) -> Result<(), String> {
        self.command(&format!("stop {mode}")).map(drop)
    }

    fn command(&mut self, line: &str) -> Result<String, String> {
        let commands = self.commands.as_mut().expect("it is not being dropped");
        writeln!(commands, "{line}").map_err(|error| format!("{PROGRAM} has ended: {error}"))?;
        self.answer()
    }

    /// The scripts bound the time of each of their steps, so this ends.
    fn answer(&mut self) -> Result<String, String> {
        let mut line = String::new();
        self.answers
            .read_line(&mut line)
            .map_err(|error| format!("{PROGRAM}: {error}"))?;
        match line.trim_end().split_once(' ') {
            _ if line.trim_end() == "ok" => Ok(String::new()),
            Some(("ok", rest)) => Ok(rest.to_owned()),
            Some(("error", rest)) => Err(rest.to_owned()),
            _ => Err(format!("{PROGRAM} has ended, or answered {line:?}")),
        }
    }
}

impl Drop for Throwaway {
    fn drop(&mut self) {
        drop(self.commands.take());
        let _ = self.keeper.wait();
    }
}
