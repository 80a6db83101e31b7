//! The oracles of jobs and of orders themselves: they have nothing to say of sound lives, and name what is
//! wrong with others.

use tasklock_runtime::Enqueued;
use tasklock_tests::torment::ledger::Belief;

use crate::audit::{Entry, Op, Row};
use crate::clerk::{Book, Order, Reply};
use crate::evidence::{Evidence, Figures, Verdict};
use crate::{life, orders};

/// Writes a log as the triggers would.
#[derive(Default)]
struct Pen(Vec<Entry>);

impl Pen {
    fn enter(&mut self, job: i64, task: &str, key: Option<&str>, number: u64) {
        let row = Row {
            task: task.into(),
            key: key.map(str::to_owned),
            state: "ready".into(),
            number: Some(number),
            ..Row::default()
        };
        self.write(job, Op::Enter, row);
    }

    fn then(&mut self, job: i64, op: Op, state: &str, outcome: &str, counts: (i64, i64)) {
        let last = self
            .0
            .iter()
            .rev()
            .find(|entry| entry.job == job && entry.op != Op::Effect);
        let last = &last.expect("it was entered").row;
        let row = Row {
            was: last.state.clone(),
            state: state.into(),
            outcome: outcome.into(),
            attempt: counts.0,
            crashes: counts.1,
            ..last.clone()
        };
        self.write(job, op, row);
    }

    fn effect(&mut self, job: i64) {
        self.write(job, Op::Effect, Row::default());
    }

    fn write(&mut self, job: i64, op: Op, row: Row) {
        let of_job = |entry: &&Entry| entry.job == job && entry.op == Op::Acquire;
        let fence = self.0.iter().filter(of_job).count() + usize::from(op == Op::Acquire);
        self.0.push(Entry {
            seq: self.0.len().try_into().expect("it fits"),
            op,
            job,
            fence: fence.try_into().expect("it fits"),
            owner: String::new(),
            until: 0,
            at: 0,
            tx: 1,
            row,
        });
    }
}

fn order(task: &str, key: Option<&str>, numbers: &[u64], reply: Reply) -> Order {
    Order {
        task: task.into(),
        numbers: numbers.to_vec(),
        key: key.map(str::to_owned),
        within: false,
        resources: None,
        reply,
    }
}

fn sound() -> Evidence {
    let mut pen = Pen::default();
    // 0 to 8: one fails, is taken over, waits, and dies of its third error.
    pen.enter(1, "tries", Some("a"), 0);
    pen.then(1, Op::Acquire, "running", "", (1, 0));
    pen.then(1, Op::Finish, "ready", "failed", (1, 0));
    pen.then(1, Op::Acquire, "running", "failed", (2, 0));
    pen.then(1, Op::Acquire, "running", "failed", (3, 1));
    pen.then(1, Op::Finish, "ready", "snoozed", (2, 1));
    pen.then(1, Op::Acquire, "running", "snoozed", (3, 1));
    pen.then(1, Op::Finish, "ready", "panicked", (3, 1));
    pen.then(1, Op::Acquire, "running", "panicked", (4, 1));
    pen.then(1, Op::Finish, "dead", "failed", (4, 1));
    // 10 to 14: the key is free again; two run, and one is given back.
    pen.enter(2, "pair", Some("a"), 1);
    pen.enter(3, "pair", None, 2);
    pen.then(2, Op::Acquire, "running", "", (1, 0));
    pen.then(3, Op::Acquire, "running", "", (1, 0));
    pen.then(3, Op::Release, "ready", "", (0, 0));
    // 15 to 18: cancelled while it waits, and while it runs.
    pen.then(3, Op::Cancel, "cancelled", "cancelled", (0, 0));
    pen.then(2, Op::Mark, "running", "", (1, 0));
    pen.then(2, Op::Acquire, "running", "", (2, 1));
    pen.then(2, Op::Finish, "cancelled", "cancelled", (2, 1));
    // 19 to 27: effect and end are one; it is deleted some time later; and one whose end deletes it.
    pen.enter(4, "ships", None, 3);
    pen.then(4, Op::Acquire, "running", "", (1, 0));
    pen.effect(4);
    pen.then(4, Op::Finish, "done", "succeeded", (1, 0));
    pen.then(4, Op::Delete, "gone", "succeeded", (1, 0));
    pen.enter(5, "gone", None, 4);
    pen.then(5, Op::Acquire, "running", "", (1, 0));
    pen.effect(5);
    pen.then(5, Op::Finish, "gone", "", (1, 0));
    let new = |job| Reply::Enqueued(vec![Enqueued::New(job)]);
    let orders = vec![
        order("tries", Some("a"), &[0], new(1)),
        order("pair", Some("a"), &[1], new(2)),
        order(
            "pair",
            Some("a"),
            &[5],
            Reply::Enqueued(vec![Enqueued::Existing(2)]),
        ),
        order("pair", None, &[2], Reply::Unknown),
        order("ships", None, &[3], new(4)),
        Order {
            within: true,
            ..order("gone", None, &[4], new(5))
        },
        order("gone", None, &[6, 7], Reply::Unknown),
        order("gone", None, &[8], Reply::RolledBack),
    ];
    Evidence {
        log: pen.0,
        book: Book {
            orders,
            cancelled: vec![3],
        },
        rows: vec![
            (1, "dead".into(), 4, 1),
            (2, "cancelled".into(), 2, 1),
            (3, "cancelled".into(), 0, 0),
        ],
        bookings: vec![4],
        settled: true,
        ..Evidence::default()
    }
}

fn judge(evidence: &Evidence) -> Verdict {
    let mut verdict = Verdict::default();
    life::judge(evidence, &mut verdict);
    orders::judge(evidence, &mut verdict);
    verdict
}

#[test]
fn sound_lives_are_sound() {
    let verdict = judge(&sound());
    assert_eq!(verdict.violations, [""; 0]);
    let figures = Figures {
        entered: 5,
        done: 1,
        gone: 1,
        dead: 1,
        cancelled: 2,
        pruned: 1,
        unknown: 2,
        unknown_there: 1,
        rolled_back: 1,
        existing: 1,
        ..Figures::default()
    };
    assert_eq!(verdict.jobs, figures);
}

/// A run that was started.
fn started(job: i64, fence: i64) -> Belief {
    Belief {
        job,
        fence,
        name: None,
        owner: String::new(),
        last_ok: 1,
        first_lost: 2,
        revived: 0,
        last_canary: 0,
        prompt_canary: 0,
        acknowledged: 0,
        completed: false,
    }
}

#[test]
fn each_rule_is_watched() {
    type Change = fn(&mut Evidence);
    let changes: [(&str, Change); 27] = [
        ("P6: it had ended", |it| {
            let again = it.log[1].clone();
            it.log.insert(10, again);
        }),
        ("P6: it had ended", |it| it.log[9].op = Op::Odd),
        ("P6: it had ended", |it| it.log[2].row.was = "ready".into()),
        ("Life", |it| drop(it.log.remove(0))),
        ("Counts", |it| it.log[4].row.crashes = 0),
        ("Counts", |it| it.log[5].row.attempt = 3),
        ("Counts", |it| it.log[14].row.attempt = 1),
        ("Retries", |it| it.log[8].row.attempt = 5),
        ("Policy", |it| it.log[9].row.outcome = "succeeded".into()),
        ("Policy", |it| it.log[7].row.state = "dead".into()),
        ("Policy", |it| it.log[22].row.outcome = "failed".into()),
        ("Policy", |it| it.log[9].row.outcome = "poisoned".into()),
        ("Crashes", |it| {
            it.log[8].row.crashes = 3;
            it.beliefs.push(started(1, 5));
        }),
        ("Cancelled", |it| it.beliefs.push(started(2, 2))),
        ("Once: 2 effects", |it| {
            let twice = it.log[21].clone();
            it.log.insert(21, twice);
        }),
        ("Once: an effect without", |it| it.log[21].fence = 2),
        ("Once: it has succeeded", |it| drop(it.log.remove(26))),
        ("Limit", |it| {
            for entry in &mut it.log[19..23] {
                entry.row.task = "pair".into();
            }
            // It is claimed while two run.
            let claimed: Vec<Entry> = it.log.drain(19..21).collect();
            it.log.splice(14..14, claimed);
        }),
        ("Unique", |it| it.log[11].row.key = Some("a".into())),
        ("Kept", |it| it.log[23].row.task = "tries".into()),
        ("Lost", |it| drop(it.log.remove(9))),
        ("Log", |it| it.rows[0].2 = 3),
        ("Log", |it| it.rows.push((9, "ready".into(), 0, 0))),
        ("Orders: Order", |it| {
            it.book.orders[0].reply = Reply::RolledBack
        }),
        ("Orders: Order", |it| it.book.orders[6].numbers = vec![3, 6]),
        ("Orders: Order", |it| it.bookings.clear()),
        ("Orders: job 2", |it| it.book.cancelled.push(2)),
    ];
    for (wanted, change) in changes {
        let mut evidence = sound();
        change(&mut evidence);
        let violations = judge(&evidence).violations;
        assert!(
            violations.iter().any(|found| found.starts_with(wanted)),
            "{wanted}: {violations:?}"
        );
    }
}
