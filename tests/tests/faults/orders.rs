//! The oracle of what was enqueued: what was acknowledged is there, once; what was rolled back never was; and
//! what nobody has answered is there once or not at all.

use std::collections::{HashMap, HashSet};

use tasklock_runtime::Enqueued;

use super::audit::{Entry, Op, Row};
use super::clerk::{Order, Reply};
use super::evidence::{Evidence, Verdict};

pub(crate) fn judge(evidence: &Evidence, verdict: &mut Verdict) {
    let entered = |entry: &&Entry| {
        entry.op == Op::Enter && !entry.row.is_name() && entry.row.key.as_deref() != Some("")
    };
    let mut there: HashMap<u64, Vec<&Entry>> = HashMap::new();
    let mut keys: HashMap<i64, &Row> = HashMap::new();
    for entry in evidence.log.iter().filter(entered) {
        keys.insert(entry.job, &entry.row);
        match entry.row.number {
            Some(number) => there.entry(number).or_default().push(entry),
            None => verdict
                .violations
                .push(format!("Orders: a job without its number: {entry:?}")),
        }
    }
    let booked: HashSet<u64> = evidence.bookings.iter().copied().collect();
    let ordered: HashSet<u64> = evidence
        .book
        .orders
        .iter()
        .flat_map(|order| order.numbers.iter().copied())
        .collect();
    for number in there.keys().filter(|number| !ordered.contains(number)) {
        verdict
            .violations
            .push(format!("Orders: number {number} was never ordered"));
    }
    for order in &evidence.book.orders {
        let found: Vec<&[&Entry]> = order
            .numbers
            .iter()
            .map(|number| there.get(number).map_or(&[][..], Vec::as_slice))
            .collect();
        let count = found.iter().map(|entries| entries.len()).sum::<usize>();
        let all = order.numbers.len();
        let each_once = found.iter().all(|entries| entries.len() == 1);
        let figures = &mut verdict.jobs;
        let sound = match &order.reply {
            Reply::Enqueued(answers) => {
                answers.len() == all
                    && answers
                        .iter()
                        .zip(&found)
                        .all(|(answer, found)| match answer {
                            Enqueued::Existing(job) => {
                                figures.existing += 1;
                                found.is_empty()
                                    && keys.get(job).is_some_and(|row| is_of(row, order))
                            }
                            answer => {
                                found.len() == 1
                                    && found[0].job == answer.id()
                                    && is_of(&found[0].row, order)
                            }
                        })
            }
            Reply::Unknown => {
                figures.unknown += 1;
                figures.unknown_there += usize::from(count > 0);
                count == 0 || each_once
            }
            Reply::RolledBack => {
                figures.rolled_back += 1;
                count == 0
            }
        };
        if !sound {
            verdict.violations.push(format!(
                "Orders: {order:?} is there {count} times: {found:?}"
            ));
        }
        // Without a key nothing but the transaction decides.
        let both = order.numbers.iter().all(|number| booked.contains(number)) == (count > 0);
        if order.within && order.key.is_none() && !both {
            verdict.violations.push(format!(
                "Orders: {order:?} is there without what its transaction wrote, or the reverse"
            ));
        }
    }
    for job in &evidence.book.cancelled {
        let cancelled = |entry: &Entry| entry.op == Op::Cancel && entry.job == *job;
        if !evidence.log.iter().any(cancelled) {
            verdict
                .violations
                .push(format!("Orders: job {job} was said to be cancelled"));
        }
    }
}

fn is_of(row: &Row, order: &Order) -> bool {
    row.task == order.task && row.key == order.key
}
