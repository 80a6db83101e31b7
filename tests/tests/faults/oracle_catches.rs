//! The oracle itself: it has nothing to say of a sound log, and names the property of an unsound one.

use tasklock_runtime::store::LEASES;
use tasklock_tests::torment::ledger::Belief;

use crate::audit::{Entry, Op, Row};
use crate::elsewhere;
use crate::evidence::Evidence;
use crate::oracle::judge;

/// Instants in milliseconds.
fn entry(op: Op, fence: i64, owner: &str, at: i64, until: i64) -> Entry {
    Entry {
        seq: 0,
        op,
        job: 1,
        fence,
        owner: owner.into(),
        until: until * 1_000,
        at: at * 1_000,
        tx: 0,
        row: Row::default(),
    }
}

fn belief(fence: i64, owner: &str, last_ok: u64) -> Belief {
    Belief {
        job: 1,
        fence,
        name: None,
        owner: owner.into(),
        last_ok: last_ok * 1_000_000,
        first_lost: last_ok * 1_000_000 + 1,
        revived: 0,
        last_canary: 0,
        prompt_canary: 0,
        acknowledged: 0,
        completed: false,
    }
}

/// One is claimed, renewed, writes and is taken over; the next one finishes.
fn sound() -> Evidence {
    let mut log = vec![
        entry(Op::Acquire, 1, "a", 0, 1_000),
        entry(Op::Renew, 1, "a", 200, 1_200),
        entry(Op::Effect, 1, "a", 300, 0),
        entry(Op::Acquire, 2, "b", 1_200, 2_200),
        entry(Op::Effect, 2, "b", 1_300, 0),
        entry(Op::Release, 2, "b", 1_400, 0),
        entry(Op::Acquire, 3, "c", 1_400, 2_400),
        entry(Op::Finish, 3, "c", 1_500, 0),
        entry(Op::Acquire, 4, "d", 1_600, 2_600),
    ];
    number(&mut log);
    let mut first = belief(1, "a", 900);
    first.acknowledged = 1;
    Evidence {
        log,
        beliefs: vec![first, belief(2, "b", 1_390), belief(3, "c", 1_490)],
        ..Evidence::default()
    }
}

fn number(log: &mut [Entry]) {
    for (entry, seq) in log.iter_mut().zip(1..) {
        // Not right behind one another: an end right behind an effect came in its transaction.
        entry.seq = 10 * seq;
    }
}

#[test]
fn a_sound_log_is_sound() {
    let verdict = judge(&sound());
    assert_eq!(verdict.violations, [""; 0]);
    assert_eq!((verdict.overlaps, verdict.canaries), (0, 0));
    assert_eq!(verdict.takeovers.len(), 1);
    assert_eq!(verdict.margins[0].as_millis(), 300);
}

#[test]
fn each_property_is_watched() {
    type Change = fn(&mut Evidence);
    let changes: [(&str, Change); 19] = [
        ("P1: a fence", |it| it.log[3].fence = 1),
        ("P1: an owner", |it| it.log[3].owner = "a".into()),
        ("P1: held", |it| it.beliefs[1].owner = "x".into()),
        ("P1: held", |it| it.beliefs[1].fence = 9),
        ("P2: before the expiry", |it| it.log[3].at = 1_199_000),
        ("P2: before the release", |it| it.log[6].at = 1_399_000),
        ("P2: an expiry", |it| it.log[1].until = 999_000),
        ("P3: fence 1 was", |it| {
            it.beliefs[0].last_ok = 1_202_000_000
        }),
        ("P3: within", |it| it.beliefs[0].last_ok = 1_100_000_000),
        ("P6: a renewal", |it| {
            it.log.insert(8, entry(Op::Renew, 3, "c", 1_550, 2_550))
        }),
        ("P3: a renewal", |it| {
            it.log.insert(4, entry(Op::Renew, 1, "a", 1_250, 2_250))
        }),
        ("P4", |it| {
            it.log.insert(4, entry(Op::Effect, 1, "a", 1_250, 0))
        }),
        ("P4", |it| it.log[2].owner = "x".into()),
        ("P4", |it| {
            it.log.insert(6, entry(Op::Effect, 2, "b", 1_400, 0))
        }),
        ("P5", |it| it.beliefs[0].revived = 1),
        ("P6: an end", |it| {
            it.log.insert(8, entry(Op::Finish, 3, "c", 1_550, 0))
        }),
        ("P6: ended", |it| it.beliefs[2].last_ok = 1_510_000_000),
        ("P8", |it| it.beliefs[0].acknowledged = 2),
        ("P8", |it| it.beliefs[1].completed = true),
    ];
    for (wanted, change) in changes {
        let mut evidence = sound();
        change(&mut evidence);
        number(&mut evidence.log);
        let violations = judge(&evidence).violations;
        assert!(
            violations.iter().any(|found| found.starts_with(wanted)),
            "{wanted}: {violations:?}"
        );
    }
}

const NAME: &str = "shared 1";

/// An acquisition of the name, which is the row 2.
fn of_name(fence: i64, owner: &str, at: i64, until: i64) -> Entry {
    let mut entry = entry(Op::Acquire, fence, owner, at, until);
    entry.job = 2;
    entry.row = Row {
        was: "running".into(),
        state: "running".into(),
        task: LEASES.into(),
        key: Some(NAME.into()),
        ..Row::default()
    };
    entry
}

/// A claim of the job 1, which needs it.
fn needing(op: Op, fence: i64, owner: &str, at: i64, until: i64) -> Entry {
    let mut entry = entry(op, fence, owner, at, until);
    entry.row.resource = Some(NAME.into());
    entry
}

/// A run dies whose second lease was renewed last: whoever takes its job over takes the name too.
fn inherited() -> Evidence {
    let second = |op, fence, owner, at, until| Entry {
        job: 2,
        ..entry(op, fence, owner, at, until)
    };
    let mut log = vec![
        needing(Op::Acquire, 1, "a", 0, 1_000),
        of_name(7, "a", 0, 1_000),
        second(Op::Renew, 7, "a", 200, 1_400),
        second(Op::Effect, 7, "a", 300, 0),
        needing(Op::Acquire, 2, "b", 1_000, 2_000),
        of_name(8, "b", 1_001, 2_001),
        second(Op::Effect, 8, "b", 1_100, 0),
        needing(Op::Finish, 2, "b", 1_200, 0),
        second(Op::Release, 8, "b", 1_200, 0),
        of_name(9, "h", 1_300, 2_300),
    ];
    number(&mut log);
    let mut beliefs = vec![
        belief(1, "a", 700),
        belief(7, "a", 700),
        belief(8, "b", 1_150),
    ];
    for second in &mut beliefs[1..] {
        (second.job, second.name) = (2, Some(1));
    }
    Evidence {
        log,
        beliefs,
        ..Evidence::default()
    }
}

#[test]
fn a_takeover_takes_the_name_of_its_run() {
    let verdict = judge(&inherited());
    assert_eq!(verdict.violations, [""; 0]);
    assert_eq!(
        (verdict.names, verdict.inherited, verdict.acquired),
        (3, 1, 2)
    );
}

/// And nobody else does, nor does it in any other way.
#[test]
fn names_are_watched_as_jobs_are() {
    type Change = fn(&mut Evidence);
    let before = "P2: before the expiry";
    let changes: [(&str, Change); 15] = [
        // By hand, or by a claim of something else.
        (before, |it| it.log[5].owner = "h".into()),
        // In a transaction of its own, later.
        (before, |it| it.log[5].tx = 5),
        // Without the takeover, or before it.
        (before, |it| drop(it.log.remove(4))),
        (before, |it| it.log.swap(4, 5)),
        // Of a job that needs another name, or none, or did before.
        (before, |it| {
            it.log[4].row.resource = Some("shared 2".into())
        }),
        (before, |it| it.log[4].row.resource = None),
        (before, |it| it.log[0].row.resource = None),
        // Of a run that did not hold it.
        (before, |it| it.log[0].owner = "c".into()),
        // Of a run that had ended.
        (before, |it| {
            it.log.insert(4, needing(Op::Release, 1, "a", 500, 0))
        }),
        // Whoever it was: it must have known.
        ("P3: fence 7 was", |it| {
            it.beliefs[1].last_ok = 1_003_000_000
        }),
        ("P1: held", |it| it.beliefs[1].job = 0),
        ("P1: a fence", |it| it.log[9].fence = 8),
        ("P2: before the release", |it| it.log[9].at = 1_199_000),
        ("P4", |it| it.log[6].fence = 7),
        ("P6: an end", |it| it.log[8].owner = "a".into()),
    ];
    for (nth, (wanted, change)) in changes.into_iter().enumerate() {
        let mut evidence = inherited();
        change(&mut evidence);
        number(&mut evidence.log);
        let violations = judge(&evidence).violations;
        assert!(
            violations.iter().any(|found| found.starts_with(wanted)),
            "{nth}: {wanted}: {violations:?}"
        );
    }
}

/// Where the log says who renews.
#[test]
fn a_renewal_of_somebody_elses_lease_is_caught() {
    let mut evidence = sound();
    evidence.log[1].owner = "not a".into();
    let violations = judge(&evidence).violations;
    assert!(violations[0].starts_with("P3: a renewal"), "{violations:?}");
}

/// One may come after the next claim, and none after the next owner's.
#[test]
fn effects_elsewhere_are_in_the_order_of_their_fences() {
    type Change = fn(&mut Evidence);
    let changes: [(bool, Change); 4] = [
        (true, |_| {}),
        (true, |it| it.elsewhere[0].at = 1_250_000),
        (false, |it| it.elsewhere.swap(0, 1)),
        (false, |it| it.elsewhere[1].owner = "a".into()),
    ];
    for (nth, (is_sound, change)) in changes.into_iter().enumerate() {
        let mut evidence = sound();
        evidence.elsewhere = vec![
            entry(Op::Effect, 1, "a", 300, 0),
            entry(Op::Effect, 2, "b", 1_300, 0),
        ];
        change(&mut evidence);
        let mut verdict = judge(&evidence);
        elsewhere::judge(&evidence, &mut verdict);
        let found = verdict.violations;
        let is_caught = found.iter().any(|found| found.starts_with("P4"));
        assert_eq!(is_caught, !is_sound, "{nth}: {found:?}");
    }
}

#[test]
fn an_unguarded_effect_that_comes_too_late_is_counted() {
    let mut evidence = sound();
    evidence.beliefs[0].last_canary = 1_202_000_000;
    let verdict = judge(&evidence);
    assert_eq!((verdict.canaries, verdict.violations.len()), (1, 0));
}

#[test]
fn a_completion_may_be_logged_before_its_commit() {
    let mut evidence = sound();
    // In one transaction with an effect: believed in until its COMMIT.
    evidence.log.insert(7, entry(Op::Effect, 3, "c", 1_499, 0));
    number(&mut evidence.log);
    evidence.log[8].seq = evidence.log[7].seq + 1;
    evidence.beliefs[2].last_ok = 1_510_000_000;
    assert_eq!(judge(&evidence).violations, [""; 0]);
}
