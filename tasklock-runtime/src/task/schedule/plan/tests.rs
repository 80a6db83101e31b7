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

/// The next slot after the run of `slot`, claimed at `now`, in seconds; and how many it stood for.
fn next(plan: &Plan, slot: i64, now: i64) -> (Option<i64>, u32) {
    let (next, missed) = plan.next(Some(s(slot)), s(slot), s(now));
    (seconds(next), missed)
}

fn seconds(next: Next) -> Option<i64> {
    match next {
        Next::At { slot, .. } => Some(slot / SECOND),
        Next::In(_) | Next::Dormant => None,
    }
}

/// The slot to go on with where `slot`, claimed at `now`, is skipped; and how many are.
fn skips(plan: &Plan, slot: i64, now: i64) -> Option<(Option<i64>, u32)> {
    let skips = plan.skips(s(slot), s(slot), s(now))?;
    Some((seconds(skips.0), skips.1))
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
        assert_eq!(skips(&plan, 15, 2), None, "{missed:?}");
    }
}

#[test]
fn an_extra_run_leaves_the_slot_to_come() {
    let extra = |slot: Option<i64>, due, now| {
        let (next, missed) = every_5s().next(slot.map(s), s(due), s(now));
        (seconds(next), missed)
    };
    assert_eq!(extra(Some(20), 17, 17), (Some(20), 0));
    assert_eq!(extra(None, 17, 17), (Some(20), 0));
    // It has come while the run waited for a worker.
    assert_eq!(extra(Some(20), 17, 22), (Some(25), 1));
    let all = every_5s().missing(Missed::All, 9, None);
    assert_eq!(seconds(all.next(Some(s(20)), s(17), s(22)).0), Some(20));
    let skip = every_5s().missing(Missed::Skip, 1, Some(Duration::from_secs(1)));
    assert_eq!(
        skip.skips(s(20), s(17), s(400)),
        None,
        "what somebody has asked for"
    );
}

#[test]
fn a_fixed_delay_counts_from_the_end() {
    let after = plan("after 3s");
    let delay = Next::In(Duration::from_secs(3));
    assert_eq!(after.next(Some(s(15)), s(15), s(31)), (delay, 0));
    assert_eq!(after.first(7), Next::at(7));
    assert_eq!(after.changed(7), delay);
}

#[test]
fn missed_slots_are_skipped_under_skip() {
    let often = every_5s().missing(Missed::Skip, 1, None);
    assert_eq!(skips(&often, 15, 19), None);
    assert_eq!(skips(&often, 15, 20), Some((Some(25), 2)));
    assert_eq!(skips(&often, 15, 61), Some((Some(65), 10)));
    let daily = plan("cron 0 3 * * *").missing(Missed::Skip, 1, None);
    let three = 3 * 3600;
    assert_eq!(skips(&daily, three, three + 60), None);
    assert_eq!(
        skips(&daily, three, three + 61),
        Some((Some(three + 86_400), 1))
    );
}

#[test]
fn each_missed_slot_is_run_under_all_up_to_a_number() {
    let plan = every_5s().missing(Missed::All, 4, None);
    assert_eq!(next(&plan, 15, 31), (Some(20), 0));
    // 15, 20, 25 and 30 wait.
    assert_eq!(skips(&plan, 15, 34), None);
    assert_eq!(skips(&plan, 15, 35), Some((Some(20), 1)));
    assert_eq!(skips(&plan, 15, 515), Some((Some(500), 97)));
}

#[test]
fn nothing_is_caught_up_with_that_is_too_old() {
    let window = Some(Duration::from_secs(12));
    for (missed, most) in [(Missed::Once, 1), (Missed::All, 100)] {
        let plan = every_5s().missing(missed, most, window);
        assert_eq!(skips(&plan, 15, 27), None);
        // What fell due at 16 or later is young enough.
        assert_eq!(skips(&plan, 15, 28), Some((Some(20), 1)), "{missed:?}");
        assert_eq!(skips(&plan, 15, 100), Some((Some(90), 15)), "{missed:?}");
    }
    let hourly = plan("every 1h").missing(Missed::Once, 1, window);
    assert_eq!(skips(&hourly, 0, 13), Some((Some(3600), 1)));
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
        let missed = [Missed::Once, Missed::Skip, Missed::All][policy as usize];
        let plan = plan(&format!("every {period}s"))
            .spread(Duration::from_secs((jitter % period).unsigned_abs()))
            .missing(missed, most, window.map(Duration::from_secs));
        let Next::At { mut slot, mut due } = plan.first(0) else { panic!() };
        let first = slot;
        let (mut now, mut accounted) = (0, 0_i64);
        for pause in pauses {
            now = due.max(now + s(pause));
            let (next, counted) = match plan.skips(slot, due, now) {
                Some((next, skipped)) => (next, i64::from(skipped)),
                None => {
                    let (next, missed) = plan.next(Some(slot), due, now);
                    (next, 1 + i64::from(missed))
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
