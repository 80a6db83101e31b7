//! A standing job through anything that may come: versions that start, triggers, runs that end in each way, crashes, absences.
//! The store is memory, whose rules are those of all stores; its clock goes on, never back.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use tokio::runtime::Builder;

use super::*;
use crate::lease::OwnerToken;
use crate::store::memory::Memory;
use crate::store::{ClaimRequest, Counts, Declaration, Store, Wanted};
use crate::task::{Missed, Schedule, micros};

const SECOND: i64 = 1_000_000;
const TTL: Duration = Duration::from_secs(5);
const SCHEDULES: [&str; 4] = ["every 7s", "cron */20 * * * * *", "every 1m", "off"];
const MISSED: [Missed; 3] = [Missed::Once, Missed::Skip, Missed::All];

#[derive(Debug, Clone)]
enum Step {
    Pass(i64),
    /// A version with this schedule.
    Start(usize),
    /// It is one of these that were run at their start, too.
    Version(usize, u8),
    Trigger,
    /// A claim by a worker of one of the versions, and what becomes of it.
    Run(usize, End),
}

#[derive(Debug, Clone, Copy)]
enum End {
    Succeed,
    Again(u64),
    Snooze(u64),
    Release,
    Crash,
    /// A version starts meanwhile.
    Overtaken(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let version = 0..SCHEDULES.len();
    let end = prop_oneof![
        4 => Just(End::Succeed),
        1 => (0_u64..40).prop_map(End::Again),
        1 => (0_u64..40).prop_map(End::Snooze),
        1 => Just(End::Release),
        1 => Just(End::Crash),
        1 => version.clone().prop_map(End::Overtaken),
    ];
    let step = prop_oneof![
        4 => (0_i64..30).prop_map(Step::Pass),
        1 => (30_i64..300).prop_map(Step::Pass),
        1 => version.clone().prop_map(Step::Start),
        1 => (version.clone(), 0_u8..4).prop_map(|(version, name)| Step::Version(version, name)),
        1 => Just(Step::Trigger),
        8 => (version, end).prop_map(|(version, end)| Step::Run(version, end)),
    ];
    prop::collection::vec(step, 1..120)
}

struct Fleet {
    store: Memory,
    clock: Arc<AtomicI64>,
    plans: Vec<Arc<Plan>>,
    /// The greatest slot for which a run was made, and the greatest that was left behind.
    started: i64,
    left: i64,
}

impl Fleet {
    fn new(missed: usize, most: u32, window: Option<u64>, jitter: u64) -> Self {
        let clock = Arc::new(AtomicI64::new(1_000_000 * SECOND));
        let now = Arc::clone(&clock);
        let plan = |text: &&str| {
            let schedule = Schedule::parse(text).expect("it is a schedule");
            let window = window.filter(|_| missed != 1).map(Duration::from_secs);
            Plan::new("task", schedule)
                .spread(Duration::from_secs(jitter))
                .missing(MISSED[missed], most, window)
        };
        Self {
            store: Memory::on(move || now.load(Ordering::Relaxed)),
            clock,
            plans: SCHEDULES.iter().map(|text| Arc::new(plan(text))).collect(),
            started: i64::MIN,
            left: i64::MIN,
        }
    }

    fn now(&self) -> i64 {
        self.clock.load(Ordering::Relaxed)
    }

    fn pass(&self, seconds: i64) {
        self.clock.fetch_add(seconds * SECOND, Ordering::Relaxed);
    }

    async fn start(&self, version: usize, name: Option<u8>) {
        let (plan, now) = (&self.plans[version], self.now());
        let declared = Declaration {
            if_new: plan.first(now),
            version: name.map(|name| format!("v{name}")),
            ..Declaration::new("task", plan.text(), plan.changed(now))
        };
        self.store
            .declare(&[declared])
            .await
            .expect("memory answers");
    }

    async fn claim(&self) -> Option<Claim> {
        let request = ClaimRequest {
            token: OwnerToken::fresh(),
            worker: String::new(),
            tasks: vec![Wanted::new("task", TTL)],
            limit: 1,
            suspects: 1,
            sweep: false,
            quick: false,
            tell: None,
        };
        let batch = self.store.claim(&request).await.expect("memory answers");
        batch.claims.into_iter().next()
    }

    async fn run(&mut self, version: usize, end: End) -> Result<(), TestCaseError> {
        let Some(claim) = self.claim().await else {
            return Ok(());
        };
        let now = self.now();
        let slot = OfSlot::of(self.plans.get(version), &claim, now);
        let of = slot.as_ref().expect("it is a standing job");
        prop_assert!(claim.due_at <= now, "{claim:?} at {now}");
        let extra = of.claimed.is_extra();
        let is_run = of.skipped().is_none();
        if !extra && is_run {
            let this = of.claimed.slot.expect("it is no extra run");
            prop_assert!(this <= now, "{this} is run at {now}");
            prop_assert!(this > self.left, "{this} was left behind by {}", self.left);
            prop_assert!(
                this >= self.started,
                "{this} after {}: {claim:?}",
                self.started
            );
            self.started = self.started.max(this);
        }
        let mut outcome = Outcome::Succeeded;
        if let Some(skipped) = of.skipped() {
            prop_assert!(!extra, "{claim:?}");
            outcome = Outcome::Skipped(skipped);
        }
        let (delay, counts) = match end {
            _ if outcome != Outcome::Succeeded => (None, Counts::Nothing),
            End::Again(delay) => (Some(delay), Counts::Attempt),
            End::Snooze(delay) => (Some(delay), Counts::Nothing),
            End::Release => {
                self.store
                    .release(&[claim.key])
                    .await
                    .expect("memory answers");
                return Ok(());
            }
            End::Crash => {
                self.clock.fetch_add(micros(TTL) + 1, Ordering::Relaxed);
                return Ok(());
            }
            End::Overtaken(other) => {
                self.start(other, None).await;
                (None, Counts::Nothing)
            }
            End::Succeed => (None, Counts::Nothing),
        };
        if let (Some(delay), Counts::Nothing) = (delay, counts) {
            outcome = Outcome::Snoozed(Duration::from_secs(delay));
        } else if let Some(delay) = delay {
            outcome = Outcome::Failed {
                error: String::new(),
                retry_after: Some(Duration::from_secs(delay)),
            };
        }
        let task = Definition::new("task").retries(1_000);
        let facts = facts(&claim, Some(of), now);
        let then = crate::task::then(&task, &facts, &outcome).expect("it has a say");
        let finish = Finish {
            passed: passed(Some(of), &facts, then),
            then,
            ..Finish::of_name(claim.key.clone())
        };
        let ended = self.store.finish(&[finish]).await.expect("memory answers");
        prop_assert_eq!(ended, [claim.key.job]);
        let row = self.store.standing("task").await.expect("memory answers");
        let row = row.expect("it stays");
        if matches!(then, Then::Slot(_)) && !extra {
            self.left = self.left.max(of.claimed.slot.expect("it is no extra run"));
        }
        if let Some(next) = row.slot_at.filter(|_| matches!(then, Then::Slot(_))) {
            prop_assert!(next > self.left, "{next} after {}", self.left);
            prop_assert!(row.due_at.is_some());
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn slots_ascend_whatever_happens(
        steps in steps(),
        missed in 0_usize..3,
        most in 1_u32..5,
        window in prop::option::of(1_u64..100),
        jitter in 0_u64..5,
    ) {
        let runtime = Builder::new_current_thread().build().expect("it needs nothing");
        runtime.block_on(async {
            let mut fleet = Fleet::new(missed, most, window, jitter);
            fleet.start(0, None).await;
            for step in steps {
                match step {
                    Step::Pass(seconds) => fleet.pass(seconds),
                    Step::Start(version) => fleet.start(version, None).await,
                    Step::Version(version, name) => fleet.start(version, Some(name)).await,
                    Step::Trigger => {
                        fleet.store.trigger("task").await.expect("memory answers");
                    }
                    Step::Run(version, end) => fleet.run(version, end).await?,
                }
            }
            // Whatever has happened, the next slot comes.
            fleet.start(0, None).await;
            fleet.pass(1_000);
            let claim = fleet.claim().await;
            prop_assert!(claim.is_some(), "{:?}", fleet.store.standing("task").await);
            Ok(())
        })?;
    }
}
