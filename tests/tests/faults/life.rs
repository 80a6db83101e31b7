//! The oracle of jobs: what may become of one between its row's first write and its last, and of all of them
//! at one time. Reads the store's log alone, but for which runs were started.
//!
//! The log is in the order of the rows' locks. A claim that counts a task's runs, and an index that looks for a
//! key, see what was committed before: so no order of the log shows more runs or keys than there were.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::audit::{Entry, Op, Row};
use super::evidence::{Evidence, Verdict};
use super::policy::{self, Policy};

/// What is known of a job so far.
struct Life {
    row: Row,
    /// It is to be cancelled once its run has ended.
    marked: bool,
}

type Key = (i64, i64);

/// All jobs, so far.
struct Lives<'a> {
    verdict: &'a mut Verdict,
    lives: BTreeMap<i64, Life>,
    running: HashMap<String, BTreeSet<i64>>,
    keys: HashMap<(String, String), i64>,
    /// The runs whose handler was started, and how many effects each has.
    started: HashSet<Key>,
    effects: HashMap<Key, usize>,
    /// The runs that have succeeded.
    done: HashSet<Key>,
}

pub(crate) fn judge(evidence: &Evidence, verdict: &mut Verdict) {
    let beliefs = evidence.beliefs.iter();
    let mut lives = Lives {
        verdict,
        lives: BTreeMap::new(),
        running: HashMap::new(),
        keys: HashMap::new(),
        started: beliefs.map(|belief| (belief.job, belief.fence)).collect(),
        effects: HashMap::new(),
        done: HashSet::new(),
    };
    for entry in evidence.log.iter().chain(&evidence.elsewhere) {
        if entry.op == Op::Effect {
            *lives.effects.entry((entry.job, entry.fence)).or_default() += 1;
        }
    }
    for entry in &evidence.log {
        // Names have no lives: they are held, or not.
        if !matches!(entry.op, Op::Renew | Op::Effect) && !entry.row.is_name() {
            lives.hear(entry);
        }
    }
    lives.effects_are_of_ends(&evidence.log);
    lives.compare(&evidence.rows);
    if evidence.settled {
        lives.nobody_waits();
    }
}

fn is_ended(state: &str) -> bool {
    matches!(state, "done" | "dead" | "cancelled" | "gone")
}

impl Lives<'_> {
    fn wrong(&mut self, what: &str, found: &impl std::fmt::Debug) {
        self.verdict.violations.push(format!("{what}: {found:?}"));
    }

    fn hear(&mut self, entry: &Entry) {
        let row = &entry.row;
        let Some(life) = self.lives.get(&entry.job) else {
            if entry.op != Op::Enter {
                self.wrong("Life: of a job that was never there", entry);
            }
            let (row, marked) = (row.clone(), false);
            self.count(entry);
            self.lives.insert(entry.job, Life { row, marked });
            return;
        };
        let before = life.row.clone();
        let marked = life.marked;
        if row.was != before.state || !follows(entry.op, &row.was, &row.state) {
            self.wrong("P6: it had ended, or was not in this state", entry);
        }
        let (attempt, crashes) = counted(entry, &before);
        let slot = row.key.as_deref() == Some("") && entry.op == Op::Finish;
        let adds_up = (row.attempt, row.crashes) == (attempt, crashes);
        // A cancelled run that was given back is cancelled as well, its attempt unused; the log does not say which. So is a
        // job put off whose name the store did not take.
        let put_off = row.state == "ready" && row.outcome == "interrupted";
        let given_back = entry.op == Op::Finish && (row.state == "cancelled" || put_off);
        let unused = given_back && (row.attempt + 1, row.crashes) == (attempt, crashes);
        if !(adds_up || unused || slot && (row.attempt, row.crashes) == (0, 0)) {
            self.wrong(
                &format!("Counts: {attempt} starts and {crashes} crashes are in the log"),
                entry,
            );
        }
        if let Some(policy) = policy::of(&row.task) {
            self.allowed(policy, entry, marked);
        }
        self.count(entry);
        let life = self.lives.get_mut(&entry.job).expect("it was found");
        life.row.clone_from(row);
        life.marked = match entry.op {
            Op::Mark => true,
            Op::Retry => false,
            _ => marked,
        };
    }

    /// What the task's policy says of starts and ends.
    fn allowed(&mut self, policy: &Policy, entry: &Entry, marked: bool) {
        let row = &entry.row;
        let key = (entry.job, entry.fence);
        let errors = row.attempt - row.crashes;
        match entry.op {
            Op::Acquire => {
                if errors > policy.retries + 1 {
                    self.wrong("Retries: more than the task has", entry);
                }
                let poisoned = row.crashes >= policy.crashes;
                if poisoned && self.started.contains(&key) {
                    self.wrong("Crashes: started in spite of them", entry);
                }
                // Taken over and put back, for its name was not to be had, it waits with its mark.
                let waits = row.was == "ready" && !policy.shares;
                if marked && (waits || self.started.contains(&key)) {
                    self.wrong("Cancelled: started after that", entry);
                }
            }
            Op::Finish | Op::Release => self.end(policy, entry, errors, marked),
            // The dead stay for a week, what was cancelled for a day, unless the task says how long.
            Op::Delete if policy.keeps || row.was == "dead" => {
                self.wrong("Kept: deleted too early", entry);
            }
            _ => {}
        }
    }

    fn end(&mut self, policy: &Policy, entry: &Entry, errors: i64, marked: bool) {
        let row = &entry.row;
        let failed = matches!(&*row.outcome, "failed" | "panicked" | "timed_out");
        // What was deleted by its end has no outcome: only successes are.
        let done = matches!(&*row.state, "done" | "gone");
        let sound = match (&*row.state, &*row.outcome) {
            ("gone", _) => policy.task == "gone",
            ("done", outcome) => outcome == "succeeded",
            ("dead", "poisoned") => row.crashes >= policy.crashes,
            ("dead", "discarded") => policy.task == "tries",
            ("dead", _) => failed && errors == policy.retries + 1,
            ("cancelled", _) => marked,
            ("ready", _) if entry.op == Op::Finish => {
                let put_off = policy.shares && row.outcome == "interrupted";
                put_off || row.outcome == "snoozed" || failed && errors <= policy.retries
            }
            ("ready", _) => true,
            _ => false,
        };
        if !sound {
            self.wrong("Policy: an end that the task does not have", entry);
        }
        let effects = self.effects.get(&(entry.job, entry.fence)).copied();
        let effects = effects.unwrap_or_default();
        let exact = usize::from(done);
        if done {
            self.done.insert((entry.job, entry.fence));
        }
        if policy.completes && effects != exact {
            self.wrong(
                &format!("Once: {effects} effects of a run that has {exact}"),
                entry,
            );
        }
        if done && effects == 0 {
            self.wrong("Once: it has succeeded without its effect", entry);
        }
    }

    /// What runs, and whose the keys are.
    fn count(&mut self, entry: &Entry) {
        let row = &entry.row;
        let figures = &mut self.verdict.jobs;
        match (&*row.state, row.key.as_deref()) {
            (_, Some("")) => {}
            _ if entry.op == Op::Enter => figures.entered += 1,
            _ if entry.op == Op::Retry => figures.retried += 1,
            _ if entry.op == Op::Delete => figures.pruned += 1,
            ("done", _) => figures.done += 1,
            ("gone", _) => figures.gone += 1,
            ("dead", _) if row.outcome == "poisoned" => figures.poisoned += 1,
            ("dead", _) => figures.dead += 1,
            ("cancelled", _) => figures.cancelled += 1,
            _ => {}
        }
        let running = self.running.entry(row.task.clone()).or_default();
        if row.state == "running" {
            running.insert(entry.job);
        } else {
            running.remove(&entry.job);
        }
        let most = policy::of(&row.task).and_then(|policy| policy.concurrency);
        let runs = running.len();
        if entry.op == Op::Acquire && most.is_some_and(|most| runs > most) {
            self.wrong(&format!("Limit: {runs} runs at once"), entry);
        }
        if let Some(key) = &row.key {
            let key = (row.task.clone(), key.clone());
            let live = !is_ended(&row.state);
            match self.keys.get(&key).copied() {
                Some(other) if other != entry.job => {
                    if live {
                        self.wrong(&format!("Unique: job {other} has the key"), entry);
                    }
                }
                _ if live => drop(self.keys.insert(key, entry.job)),
                _ => drop(self.keys.remove(&key)),
            }
        }
    }

    /// Where an effect and the end are one, there is none without the other.
    fn effects_are_of_ends(&mut self, log: &[Entry]) {
        for entry in log.iter().filter(|entry| entry.op == Op::Effect) {
            let task = self.lives.get(&entry.job).map(|life| &*life.row.task);
            let completes = task.and_then(policy::of).is_some_and(|it| it.completes);
            if completes && !self.done.contains(&(entry.job, entry.fence)) {
                self.wrong("Once: an effect without its end", entry);
            }
        }
    }

    /// The rows are what the log says of them.
    fn compare(&mut self, rows: &[(i64, String, i64, i64)]) {
        let found: BTreeMap<i64, _> = rows.iter().map(|row| (row.0, row)).collect();
        let logged = |life: &Life| life.row.state != "gone";
        let lives: Vec<(i64, Row)> = self
            .lives
            .iter()
            .filter(|(_, life)| logged(life))
            .map(|(job, life)| (*job, life.row.clone()))
            .collect();
        for (job, row) in &lives {
            let same = found.get(job).is_some_and(|(_, state, attempt, crashes)| {
                (state, *attempt, *crashes) == (&row.state, row.attempt, row.crashes)
            });
            if !same {
                self.wrong(&format!("Log: job {job} is {:?}", found.get(job)), row);
            }
        }
        if lives.len() != rows.len() {
            self.wrong(&format!("Log: {} rows", rows.len()), &lives.len());
        }
    }

    /// Every job that was enqueued has ended.
    fn nobody_waits(&mut self) {
        let waiting: Vec<String> = self
            .lives
            .iter()
            .filter(|(_, life)| life.row.key.as_deref() != Some("") && !is_ended(&life.row.state))
            .map(|(job, life)| format!("{job}: {:?}", life.row))
            .collect();
        for job in waiting {
            self.wrong("Lost: a job that has not ended", &job);
        }
    }
}

/// Whether a job comes from one state to the other in this way.
fn follows(op: Op, was: &str, state: &str) -> bool {
    match op {
        Op::Acquire => matches!(was, "ready" | "running") && state == "running",
        Op::Finish => was == "running" && state != "running",
        Op::Release => was == "running" && matches!(state, "ready" | "cancelled"),
        Op::Mark => was == "running" && state == "running",
        Op::Cancel => was == "ready" && state == "cancelled",
        Op::Retry => is_ended(was) && state == "ready",
        Op::Delete => is_ended(was) && state == "gone",
        Op::Enter | Op::Renew | Op::Effect | Op::Odd => false,
    }
}

/// The starts and the crashes after an entry: those of before, and what it is.
fn counted(entry: &Entry, before: &Row) -> (i64, i64) {
    let (attempt, crashes) = (before.attempt, before.crashes);
    let unused = (attempt.max(1) - 1, crashes);
    match entry.op {
        Op::Acquire if entry.row.was == "running" => (attempt + 1, crashes + 1),
        Op::Acquire => (attempt + 1, crashes),
        Op::Release => unused,
        Op::Finish if entry.row.outcome == "snoozed" && entry.row.state != "gone" => unused,
        Op::Retry | Op::Enter => (0, 0),
        _ => (attempt, crashes),
    }
}
