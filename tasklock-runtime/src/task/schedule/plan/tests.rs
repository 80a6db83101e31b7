use proptest::prelude::*;

use super::*;

const SECOND: i64 = 1_000_000;
const HOUR: Duration = Duration::from_secs(3600);

fn plan(text: &str) -> Plan {
    Plan::new("task", Schedule::parse(text).expect("it is a schedule"))
}

fn every_5s() -> Plan {
    plan("every 5s")
}

fn s(seconds: i64) -> i64 {
    seconds * SECOND
}

fn at(slot: i64, now: i64) -> Claimed {
    Claimed {
        slot: Some(s(slot)),
        due: s(slot),
        begun_at: s(now),
        follows: None,
        now: s(now),
    }
}

/// The next slot after the run of `slot`, claimed at `now`, in seconds; and how many it stood for.
fn next(plan: &Plan, slot: i64, now: i64) -> (Option<i64>, u32) {
    let (next, missed) = plan.next(&at(slot, now));
    (seconds(next), missed)
}

fn seconds(next: Next) -> Option<i64> {
    match next {
        Next::At { slot, .. } => Some(slot / SECOND),
        Next::In(_) | Next::Dormant => None,
    }
}

/// What becomes of `slot`, claimed at `now`.
fn fate(plan: &Plan, slot: i64, now: i64) -> Fate {
    plan.fate(&at(slot, now))
}

fn runs_for(slot: i64, skipped: u32) -> Fate {
    Fate::Later {
        slot: s(slot),
        skipped,
    }
}

fn skips_to(slot: i64, skipped: u32) -> Fate {
    Fate::Skip {
        next: Next::at(s(slot)),
        skipped,
    }
}

#[test]
fn slots_are_multiples_since_the_epoch_and_strictly_later() {
    let first = |now| every_5s().first(now);
    assert_eq!(first(s(12)), Next::at(s(15)));
    assert_eq!(first(s(15)), Next::at(s(20)));
    assert_eq!(first(s(15) - 1), Next::at(s(15)));
    assert_eq!(first(-1), Next::at(0));
}

#[test]
fn a_late_claim_stands_for_the_slots_before_it() {
    assert_eq!(next(&every_5s(), 15, 15), (Some(20), 0));
    assert_eq!(next(&every_5s(), 15, 31), (Some(35), 3));
}

/// A store's clock that steps back must not bring a slot again.
#[test]
fn the_next_slot_is_later_than_the_claimed_one_even_if_the_clock_steps_back() {
    for missed in [Missed::Once, Missed::Skip, Missed::All] {
        let plan = every_5s().missing(missed, 100, None);
        assert_eq!(next(&plan, 15, 2), (Some(20), 0), "{missed:?}");
        assert_eq!(fate(&plan, 15, 2), Fate::Run, "{missed:?}");
    }
}

#[test]
fn an_extra_run_leaves_the_slot_to_come() {
    let extra = |slot: Option<i64>, due, now| Claimed {
        slot: slot.map(s),
        due: s(due),
        ..at(0, now)
    };
    let after = |slot, due, now| {
        let (next, missed) = every_5s().next(&extra(slot, due, now));
        (seconds(next), missed)
    };
    assert_eq!(after(Some(20), 17, 17), (Some(20), 0));
    assert_eq!(after(None, 17, 17), (Some(20), 0));
    // It has come while the run waited for a worker.
    assert_eq!(after(Some(20), 17, 22), (Some(25), 1));
    let all = every_5s().missing(Missed::All, 9, None);
    let late = extra(Some(20), 17, 22);
    assert_eq!(seconds(all.next(&late).0), Some(20));
    assert!(
        all.covers_attempts(&late),
        "its attempts are not the slot's"
    );
    assert!(!all.covers_attempts(&at(20, 22)));
    let skip = every_5s().missing(Missed::Skip, 1, Some(Duration::from_secs(1)));
    assert_eq!(
        skip.fate(&extra(Some(20), 17, 400)),
        Fate::Run,
        "somebody has asked for it"
    );
}

#[test]
fn a_fixed_delay_counts_from_the_end() {
    let after = plan("after 3s");
    let delay = Next::In(Duration::from_secs(3));
    assert_eq!(after.next(&at(15, 31)), (delay, 0));
    assert_eq!(after.first(7), Next::at(7));
    assert_eq!(after.changed(7), delay);
}

#[test]
fn missed_slots_are_skipped_under_skip() {
    let often = every_5s().missing(Missed::Skip, 1, None);
    assert_eq!(fate(&often, 15, 19), Fate::Run);
    assert_eq!(fate(&often, 15, 20), skips_to(25, 2));
    assert_eq!(fate(&often, 15, 61), skips_to(65, 10));
    let daily = plan("cron 0 3 * * *").missing(Missed::Skip, 1, None);
    let three = 3 * 3600;
    assert_eq!(fate(&daily, three, three + 60), Fate::Run);
    assert_eq!(fate(&daily, three, three + 61), skips_to(three + 86_400, 1));
    // What a claim takes is no absence.
    let busy = plan("every 100ms").missing(Missed::Skip, 1, None);
    let late = |millis: i64| Claimed {
        begun_at: s(15) + millis * 1_000,
        ..at(15, 0)
    };
    assert_eq!(busy.fate(&late(1_000)), Fate::Run);
    assert!(matches!(
        busy.fate(&late(1_001)),
        Fate::Skip { skipped: 11, .. }
    ));
}

#[test]
fn each_missed_slot_is_run_under_all_up_to_a_number() {
    let plan = every_5s().missing(Missed::All, 4, None);
    assert_eq!(next(&plan, 15, 31), (Some(20), 0));
    // 15, 20, 25 and 30 wait.
    assert_eq!(fate(&plan, 15, 34), Fate::Run);
    assert_eq!(fate(&plan, 15, 35), runs_for(20, 1));
    assert_eq!(fate(&plan, 15, 515), runs_for(500, 97));
}

#[test]
fn nothing_is_caught_up_with_that_is_too_old() {
    let window = Some(Duration::from_secs(12));
    for (missed, most) in [(Missed::Once, 1), (Missed::All, 100)] {
        let plan = every_5s().missing(missed, most, window);
        assert_eq!(fate(&plan, 15, 27), Fate::Run);
        // What fell due at 16 or later is young enough.
        assert_eq!(fate(&plan, 15, 28), runs_for(20, 1), "{missed:?}");
        assert_eq!(fate(&plan, 15, 100), runs_for(90, 15), "{missed:?}");
        let begun = Claimed {
            begun_at: s(27),
            ..at(15, 100)
        };
        assert_eq!(plan.fate(&begun), Fate::Run, "{missed:?}");
        // It fell due with its slot, whatever has put it off since.
        let put_off = Claimed {
            due: s(99),
            ..at(15, 100)
        };
        assert_eq!(plan.fate(&put_off), runs_for(90, 15), "{missed:?}");
    }
    let hourly = plan("every 1h").missing(Missed::Once, 1, window);
    assert_eq!(fate(&hourly, 0, 13), skips_to(3600, 1));
}

/// A slot of another schedule is followed by what the row says, and not counted by the present one.
#[test]
fn a_slot_of_another_schedule_is_followed_by_what_the_row_says() {
    let late = |follows| Claimed {
        follows: Some(follows),
        ..at(7, 100)
    };
    let follows = |slot| late(Next::at(s(slot)));
    let after = |plan: &Plan, claimed| {
        let (next, missed) = plan.next(&claimed);
        (seconds(next), missed)
    };
    let once = every_5s();
    assert_eq!(after(&once, follows(120)), (Some(120), 0));
    assert_eq!(after(&once, follows(90)), (Some(105), 3));
    assert_eq!(once.fate(&follows(90)), Fate::Run);
    let all = every_5s().missing(Missed::All, 4, None);
    assert_eq!(after(&all, follows(90)), (Some(90), 0));
    assert_eq!(all.fate(&follows(90)), Fate::Run);
    let skip = every_5s().missing(Missed::Skip, 1, None);
    assert_eq!(skip.fate(&follows(90)), skips_to(105, 4));
    assert_eq!(skip.fate(&follows(120)), skips_to(120, 1));
    for next in [Next::Dormant, Next::In(HOUR)] {
        assert_eq!(once.next(&late(next)), (next, 0));
        assert_eq!(skip.fate(&late(next)), Fate::Run);
    }
}

#[test]
fn jitter_is_the_tasks_own_and_keeps_the_order() {
    let [one, two] = ["one", "two"]
        .map(|task| Plan::new(task, Schedule::Every(HOUR)).spread(Duration::from_secs(60)));
    let later = |plan: &Plan| -> Vec<i64> {
        (0..1_000)
            .map(|hour| {
                let before = hour * 3600 * SECOND;
                let Next::At { slot, due } = plan.first(before) else {
                    panic!("it has slots");
                };
                due - slot
            })
            .collect()
    };
    let [of_one, of_two] = [later(&one), later(&two)];
    assert_eq!(of_one, later(&one), "the same for the same slot");
    assert!(of_one != of_two);
    assert!(of_one.iter().all(|later| (0..=60 * SECOND).contains(later)));
    let mean = of_one.iter().sum::<i64>() / 1_000;
    assert!((28 * SECOND..32 * SECOND).contains(&mean), "{mean}");
}

#[test]
fn a_jitter_that_would_change_the_order_is_refused() {
    let jittered = |text: &str, jitter: u64| plan(text).spread(Duration::from_secs(jitter)).check();
    assert_eq!(jittered("every 1m", 59), Ok(()));
    assert!(jittered("every 1m", 60).is_err_and(|told| told.contains("1m")));
    assert_eq!(jittered("cron 0 3 * * *", 3600), Ok(()));
    assert!(jittered("cron 0,5 3 * * *", 300).is_err());
    // Once a year these are an hour apart.
    assert!(
        plan("cron 30 1,3 * * * in Europe/Berlin")
            .spread(HOUR)
            .check()
            .is_err()
    );
    let closer = plan("every 1h").spread(HOUR / 2).under("every 1m");
    assert_eq!(closer.expect("it is a schedule").check(), Ok(()));
    assert_eq!(jittered("after 5s", 60), Ok(()));
}

#[test]
fn another_versions_schedule_is_obeyed() {
    let stored = every_5s()
        .under("cron 0 0 * * *")
        .expect("it is a schedule");
    assert_eq!(next(&stored, 15, 15), (Some(86_400), 0));
    assert!(every_5s().under("whenever it rains").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the policy: slots ascend; what is run, missed and skipped is every slot, once.
    #[test]
    fn every_slot_is_accounted_for(
        period in 1_i64..20,
        jitter in 0_i64..20,
        policy in 0..3,
        most in 1_u32..8,
        window in proptest::option::of(1_u64..60),
        pauses in proptest::collection::vec(0_i64..90, 1..40),
    ) {
        // The two exclude each other.
        let window = window.filter(|_| policy != 1);
        let missed = [Missed::Once, Missed::Skip, Missed::All][policy as usize];
        let plan = plan(&format!("every {period}s"))
            .spread(Duration::from_secs((jitter % period).unsigned_abs()))
            .missing(missed, most, window.map(Duration::from_secs));
        let Next::At { mut slot, mut due } = plan.first(0) else { panic!() };
        let first = slot;
        let (mut now, mut accounted) = (0, 0_i64);
        for pause in pauses {
            now = due.max(now + s(pause));
            let mut claimed = Claimed { slot: Some(slot), due, begun_at: now, follows: None, now };
            let mut counted = 0;
            let next = match plan.fate(&claimed) {
                Fate::Skip { next, skipped } => {
                    counted += i64::from(skipped);
                    next
                }
                fate => {
                    if let Fate::Later { slot, skipped } = fate {
                        prop_assert!(slot > claimed.slot.unwrap() && slot <= now);
                        counted += i64::from(skipped);
                        (claimed.slot, claimed.due) = (Some(slot), now);
                        prop_assert_eq!(plan.fate(&claimed), Fate::Run);
                    }
                    let (next, missed) = plan.next(&claimed);
                    counted += 1 + i64::from(missed);
                    next
                }
            };
            let Next::At { slot: later, due: later_due } = next else { panic!() };
            prop_assert!(later > slot && later_due >= later);
            accounted += counted;
            (slot, due) = (later, later_due);
            prop_assert_eq!((slot - first) / s(period), accounted);
        }
    }
}
