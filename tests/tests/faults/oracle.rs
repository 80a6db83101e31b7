//! The oracle: reads what the store did and what each process believed, and says everything in it that
//! must not be. The properties' numbers are those of GUARANTEES.md.
//!
//! The store's log is in the order of the rows' locks; what processes believed is on the clock of the
//! machine, which all of them and the store share, so that one offset brings it onto the store's clock.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use tasklock_tests::torment::ledger::Belief;

use super::audit::{Entry, Op};
use super::evidence::{Evidence, Verdict};
use super::second::Inherited;

/// SQLite's clock shows whole milliseconds.
const RESOLUTION: i64 = 1_000;
/// The least margin of the tasks is 250 ms; a clock that is a tenth too slow takes 83 ms of it.
const MARGIN: i64 = 140_000;

/// The present lease of a job.
struct Holder<'a> {
    acquired: &'a Entry,
    until: i64,
    ended: Option<&'a Entry>,
}

type Key = (i64, i64);

pub(crate) fn judge(evidence: &Evidence) -> Verdict {
    let mut verdict = Verdict::default();
    let mut beliefs: HashMap<Key, Vec<&Belief>> = HashMap::new();
    for belief in &evidence.beliefs {
        let key = (belief.job, belief.fence);
        beliefs.entry(key).or_default().push(belief);
    }
    let mut jobs: BTreeMap<i64, Vec<&Entry>> = BTreeMap::new();
    for entry in &evidence.log {
        jobs.entry(entry.job).or_default().push(entry);
    }
    let mut owners: HashMap<Key, &str> = HashMap::new();
    let mut effects: HashMap<Key, u64> = HashMap::new();
    let mut finished: HashSet<Key> = HashSet::new();
    let completions = completions(&evidence.log);
    let inherited = Inherited::of(&evidence.log);
    for entries in jobs.values() {
        let mut court = Court {
            evidence,
            completions: &completions,
            inherited: &inherited,
            beliefs: &beliefs,
            verdict: &mut verdict,
            holder: None,
            former: Vec::new(),
        };
        for entry in entries {
            court.hear(entry);
        }
        for entry in entries {
            let key = (entry.job, entry.fence);
            match entry.op {
                Op::Acquire => drop(owners.insert(key, &entry.owner)),
                Op::Effect => *effects.entry(key).or_default() += 1,
                Op::Finish => drop(finished.insert(key)),
                _ => {}
            }
        }
    }
    for effect in &evidence.elsewhere {
        *effects.entry((effect.job, effect.fence)).or_default() += 1;
    }
    for belief in &evidence.beliefs {
        let key = (belief.job, belief.fence);
        let mut wrong = |what: String| {
            verdict.violations.push(format!("{what}: {belief:?}"));
        };
        if owners.get(&key) != Some(&&*belief.owner) {
            wrong("P1: held without being granted".into());
        }
        if belief.revived != 0 {
            wrong("P5: held again after it was lost".into());
        }
        let there = effects.get(&key).copied().unwrap_or_default();
        if belief.acknowledged > there {
            wrong(format!(
                "P8: {there} of its acknowledged transactions are there"
            ));
        }
        if belief.completed && !finished.contains(&key) {
            wrong("P8: its completion was acknowledged and is not there".into());
        }
    }
    verdict
}

/// The ends that came with an effect in one transaction: by its number, or where transactions come one
/// after the other, right behind the effect.
fn completions(log: &[Entry]) -> HashSet<i64> {
    let effects: HashSet<(i64, i64, i64)> = log
        .iter()
        .filter(|entry| entry.op == Op::Effect)
        .map(|entry| {
            (
                entry.job,
                entry.fence,
                if entry.tx == 0 { -entry.seq } else { entry.tx },
            )
        })
        .collect();
    log.iter()
        .filter(|entry| entry.op == Op::Finish)
        .filter(|entry| {
            let with = if entry.tx == 0 {
                1 - entry.seq
            } else {
                entry.tx
            };
            effects.contains(&(entry.job, entry.fence, with))
        })
        .map(|entry| entry.seq)
        .collect()
}

/// The log of one job, or of one name.
struct Court<'a, 'v> {
    evidence: &'a Evidence,
    completions: &'a HashSet<i64>,
    inherited: &'a Inherited<'a>,
    beliefs: &'a HashMap<Key, Vec<&'a Belief>>,
    verdict: &'v mut Verdict,
    holder: Option<Holder<'a>>,
    /// Earlier acquisitions.
    former: Vec<&'a Entry>,
}

impl<'a> Court<'a, '_> {
    fn hear(&mut self, entry: &'a Entry) {
        match entry.op {
            Op::Acquire => self.acquire(entry),
            Op::Renew => self.renew(entry),
            Op::Finish | Op::Release => self.end(entry),
            Op::Effect => self.effect(entry),
            Op::Enter | Op::Mark | Op::Cancel | Op::Retry | Op::Delete | Op::Odd => {}
        }
    }

    fn wrong(&mut self, what: &str, entry: &Entry) {
        let holder = self.holder.as_ref().map(|holder| {
            let ended = holder.ended.map(|end| (end.seq, end.op, end.at));
            format!(
                "{:?}, until {}, ended {ended:?}",
                holder.acquired, holder.until
            )
        });
        self.verdict
            .violations
            .push(format!("{what}: {entry:?}; the holder: {holder:?}"));
    }

    fn acquire(&mut self, entry: &'a Entry) {
        match entry.row.is_name() {
            true => self.verdict.names += 1,
            false => self.verdict.acquired += 1,
        }
        let fence = self.former.last().map_or(0, |former| former.fence);
        if entry.fence <= fence {
            self.wrong("P1: a fence that is not greater", entry);
        }
        if self.former.iter().any(|former| former.owner == entry.owner) {
            self.wrong("P1: an owner token that was used before", entry);
        }
        if let Some(holder) = &self.holder {
            match holder.ended {
                Some(end) if end.at > entry.at => self.wrong("P2: before the release", entry),
                Some(_) => {}
                None if self.inherited.has(entry, holder.acquired) => self.verdict.inherited += 1,
                None if holder.until > entry.at => self.wrong("P2: before the expiry", entry),
                // When a name is wanted again is up to those who want it.
                None if entry.row.is_name() => {}
                None => {
                    let took = micros(entry.at - holder.until);
                    self.verdict.takeovers.push(took);
                }
            }
        }
        self.early_loss(entry);
        self.former.push(entry);
        self.holder = Some(Holder {
            acquired: entry,
            until: entry.until,
            ended: None,
        });
    }

    /// Whoever held the job before must have known by now, and all who wrote unguarded are counted.
    fn early_loss(&mut self, entry: &'a Entry) {
        let taken_over = self
            .holder
            .as_ref()
            .is_some_and(|held| held.ended.is_none());
        let last = self.former.last().map(|former| former.fence);
        for former in self.former.clone() {
            let key = (former.job, former.fence);
            for belief in self.beliefs.get(&key).into_iter().flatten() {
                let on_store = |nanos: u64| (nanos / 1_000).cast_signed() + self.evidence.offset;
                let last_ok = on_store(belief.last_ok);
                if last_ok > entry.at + RESOLUTION {
                    let late = last_ok - entry.at;
                    self.wrong(
                        &format!("P3: fence {} was believed in {late} µs later", former.fence),
                        entry,
                    );
                }
                let until = self.holder.as_ref().map_or(i64::MAX, |holder| holder.until);
                if last == Some(former.fence) && last_ok > until - MARGIN {
                    let left = until - last_ok;
                    self.wrong(
                        &format!("P3: within the margin, {left} µs before its expiry, fence {} was believed in", former.fence),
                        entry,
                    );
                }
                if last == Some(former.fence) {
                    if taken_over && belief.last_ok > 0 {
                        self.verdict.margins.push(micros(entry.at - last_ok));
                    }
                    if on_store(belief.last_canary) > entry.at + RESOLUTION {
                        self.verdict.canaries += 1;
                    }
                    // What is under way when its run ends by itself may meet the next run, which comes at
                    // once after a release: no notice was due.
                    if taken_over && on_store(belief.prompt_canary) > entry.at + RESOLUTION {
                        self.verdict.prompt_canaries += 1;
                    }
                }
            }
        }
    }

    fn renew(&mut self, entry: &'a Entry) {
        self.verdict.renewed += 1;
        match &mut self.holder {
            // A side row does not say whose it is.
            Some(holder)
                if holder.acquired.fence == entry.fence
                    && (entry.owner.is_empty() || holder.acquired.owner == entry.owner) =>
            {
                // Beats pass a transaction that completes its job, which is logged before its COMMIT.
                let ended = holder
                    .ended
                    .is_some_and(|end| !self.completions.contains(&end.seq));
                if ended {
                    self.wrong("P6: a renewal of a lease that was ended", entry);
                } else if entry.until < holder.until {
                    self.wrong("P2: an expiry that went back", entry);
                } else {
                    holder.until = entry.until;
                }
            }
            _ => self.wrong("P3: a renewal by somebody who does not hold it", entry),
        }
    }

    fn end(&mut self, entry: &'a Entry) {
        match &mut self.holder {
            Some(holder)
                if holder.acquired.fence == entry.fence
                    && holder.acquired.owner == entry.owner
                    && holder.ended.is_none() =>
            {
                holder.ended = Some(entry);
                self.ended_by_its_owner(entry);
            }
            _ => self.wrong("P6: an end that is not the holder's, or its second", entry),
        }
    }

    /// A handler that still believes in its lease did not end it, unless in a transaction of its own:
    /// that is logged before its COMMIT, and until then nobody else can have the row.
    fn ended_by_its_owner(&mut self, entry: &'a Entry) {
        if self.completions.contains(&entry.seq) {
            return;
        }
        for belief in self
            .beliefs
            .get(&(entry.job, entry.fence))
            .into_iter()
            .flatten()
        {
            let last_ok = (belief.last_ok / 1_000).cast_signed() + self.evidence.offset;
            if last_ok > entry.at + RESOLUTION {
                let late = last_ok - entry.at;
                self.verdict.violations.push(format!(
                    "P6: ended, and believed in {late} µs later: {entry:?}, {belief:?}"
                ));
            }
        }
    }

    fn effect(&mut self, entry: &'a Entry) {
        self.verdict.effects += 1;
        let held = self.holder.as_ref().is_some_and(|holder| {
            holder.acquired.fence == entry.fence
                && holder.acquired.owner == entry.owner
                // A transaction that completes its job is logged at its COMMIT, after the end in it.
                && holder.ended.is_none_or(|end| end.tx == entry.tx && end.tx != 0)
        });
        if !held {
            self.verdict.overlaps += 1;
            self.wrong("P4: a guarded transaction under a spent fence", entry);
        }
    }
}

fn micros(span: i64) -> Duration {
    Duration::from_micros(u64::try_from(span).unwrap_or(0))
}
