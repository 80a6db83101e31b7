//! One place in the fleet: a worker process, another when that has died, and its way to the database.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tasklock_test_support::process::{Event, Signal, Worker, states};
use tasklock_test_support::proxy::Proxy;
use tasklock_test_support::wait::{eventually, try_eventually};
use tasklock_tests::program::command;
use tasklock_tests::torment::ledger::{self, Belief};
use tasklock_tests::torment::names;

use super::BOUND;
use super::place::Place;

pub(crate) struct Seat {
    pub(crate) name: String,
    pub(crate) worker: Worker,
    /// Between the worker and a server.
    pub(crate) proxy: Option<Proxy>,
    /// One for each process that has sat here.
    ledgers: Vec<PathBuf>,
    folder: PathBuf,
    url: String,
    variables: Vec<(String, String)>,
    program: &'static str,
}

pub(crate) const WORKER: &str = env!("CARGO_BIN_EXE_fault_worker");

impl Seat {
    pub(crate) fn start(
        place: &Place,
        folder: &Path,
        name: &str,
        program: &'static str,
        variables: &[(&str, &str)],
    ) -> Self {
        let url = place.url();
        let proxy = (!place.is_sqlite()).then(|| Proxy::before(&url).expect("a port is free"));
        let url = proxy.as_ref().map_or(url.clone(), |proxy| proxy.url(&url));
        let effects = place.effects_url();
        let effects = effects.as_deref().map(|url| ("FAULT_EFFECTS", url));
        let variables: Vec<(String, String)> = variables
            .iter()
            .chain(&effects)
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let ledger = folder.join(format!("{name}-0"));
        let worker = launch(program, folder, &url, &ledger, &variables);
        Self {
            name: name.to_owned(),
            worker,
            proxy,
            ledgers: vec![ledger],
            folder: folder.to_owned(),
            url,
            variables,
            program,
        }
    }

    /// A new process in the place of one that has ended.
    pub(crate) fn restart(&mut self) {
        assert!(self.worker.ended().is_some(), "{} is alive", self.name);
        let ledger = self
            .folder
            .join(format!("{}-{}", self.name, self.ledgers.len()));
        self.worker = launch(
            self.program,
            &self.folder,
            &self.url,
            &ledger,
            &self.variables,
        );
        self.ledgers.push(ledger);
    }

    /// The leases that it holds by what it believes, as (job, fence).
    pub(crate) fn held(&self) -> Vec<(i64, i64)> {
        let path = self.ledgers.last().expect("there is one");
        ledger::read(path)
            .iter()
            .filter(|belief| belief.last_ok > 0 && belief.first_lost == 0)
            // A name that is given up may be nobody's for long.
            .filter(|belief| belief.name.is_none())
            .map(|belief| (belief.job, belief.fence))
            .collect()
    }

    /// The names that it holds by what it believes, for its jobs or by hand, with their fences.
    pub(crate) fn names(&self) -> Vec<(String, i64)> {
        let path = self.ledgers.last().expect("there is one");
        let held = ledger::read(path).into_iter();
        held.filter(|belief| belief.last_ok > 0 && belief.first_lost == 0)
            .filter_map(|belief| Some((names::name(belief.name?), belief.fence)))
            .collect()
    }

    /// What all its processes have believed.
    pub(crate) fn beliefs(&self) -> Vec<Belief> {
        self.ledgers
            .iter()
            .flat_map(|path| ledger::read(path))
            .collect()
    }

    /// Tells the process something, and waits until it has obeyed; false if it has died before.
    pub(crate) fn tell(&self, order: &str) -> bool {
        let path = self.ledgers.last().expect("there is one");
        let file = |end: &str| {
            let mut path = path.clone().into_os_string();
            path.push(end);
            PathBuf::from(path)
        };
        fs::write(file(".new"), order).expect("the folder can be written");
        fs::rename(file(".new"), file(".command")).expect("the folder can be written");
        let obeyed = try_eventually(BOUND, || {
            let ended = self.worker.ended().is_some();
            // It may have stopped at its step in the very moment that this was to be prevented.
            if order == "forget" && !ended && states(self.worker.pid()).contains(&'T') {
                self.worker.try_signal(Signal::CONT);
            }
            // It may have died of it by now.
            let obeyed = !file(".command").exists();
            (ended || obeyed).then_some(obeyed)
        });
        obeyed.unwrap_or_else(|| {
            let states = states(self.worker.pid());
            panic!(
                "{order:?} is not obeyed, threads {states:?}: {}",
                self.worker.report()
            )
        })
    }

    /// Waits for a step that it was told to die or to stop at.
    pub(crate) fn step(&self) -> Event {
        self.worker.wait_for(BOUND, |event| event.is("step"))
    }

    /// Waits until it has stopped itself.
    pub(crate) fn stopped(&self) {
        eventually(BOUND, || states(self.worker.pid()).contains(&'T'));
    }

    /// SIGSTOP for so long, if it is alive.
    pub(crate) async fn pause(&self, time: Duration) {
        self.worker.try_signal(Signal::STOP);
        tokio::time::sleep(time).await;
        self.worker.try_signal(Signal::CONT);
    }

    /// A process that could not start, for the database was away, is started again.
    pub(crate) fn revive(&mut self) {
        if self.worker.ended().is_some() {
            self.restart();
        }
    }
}

fn launch(
    program: &str,
    folder: &Path,
    url: &str,
    ledger: &Path,
    variables: &[(String, String)],
) -> Worker {
    // Ignored signals stay ignored in the program that takes the shell's place: a file that may not
    // grow is an error then, and not the end of the process.
    let mut command = command("sh", folder);
    command
        .args(["-c", "trap '' XFSZ; exec \"$0\"", program])
        .env("TASKLOCK_DATABASE_URL", url)
        .env("FAULT_LEDGER", ledger)
        .env("RUST_LOG", "warn")
        .env("RUST_BACKTRACE", "0")
        .env("NO_COLOR", "1")
        .envs(variables.iter().map(|(name, value)| (name, value)));
    Worker::spawn(&mut command)
}
