//! A fleet of workers on one database, tormented and then judged.

use std::io::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tasklock_test_support::process::boottime;
use tasklock_test_support::temp::TempDir;
use tasklock_tests::torment::names;

use super::clerk::{Book, Clerk};
use super::draw::Draw;
use super::evidence::{Evidence, Verdict};
use super::oracle::judge;
use super::place::Place;
use super::seat::{Seat, WORKER};
use super::{BOUND, audit, elsewhere, life, orders, policy};

/// Whether unguarded effects of a former holder are to be expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Canary {
    /// The fault bites through: without the guard there would be damage.
    Overlaps,
    /// Early notice alone is enough here.
    Never,
    /// A process may be paused or not.
    Any,
}

pub(crate) struct Arena {
    pub(crate) place: Place,
    pub(crate) seats: Vec<Seat>,
    pub(crate) bitten: usize,
    /// Draws what is ordered.
    pub(crate) seed: u64,
    /// Enqueues jobs while there are tasks that run on demand.
    clerk: Option<Clerk>,
    /// What the clerk's client shall do wrong.
    pub(crate) mistake: &'static str,
    folder: TempDir,
}

/// The tasks that most scenarios run: standing ones, and some that run on demand.
pub(crate) const TASKS: &str = "a0,a1,s0,s1,ships,tries,pair,gone,shares,pushes";
/// Standing tasks alone.
pub(crate) const STANDING: &str = "a0,a1,a2,s0,s1,s2";

impl Arena {
    pub(crate) fn new(place: Place) -> Self {
        Self {
            place,
            seats: Vec::new(),
            bitten: 0,
            seed: Draw::seed(),
            clerk: None,
            mistake: "",
            folder: TempDir::new(),
        }
    }

    /// So many workers with these tasks.
    pub(crate) fn fleet(&mut self, count: usize, tasks: &str) {
        for _ in 0..count {
            self.seat(tasks, &[]);
        }
        // Everybody is here, and somebody works.
        self.busy();
    }

    /// One more worker.
    pub(crate) fn seat(&mut self, tasks: &str, variables: &[(&str, &str)]) -> &mut Seat {
        self.seat_of(WORKER, tasks, variables)
    }

    pub(crate) fn seat_of(
        &mut self,
        program: &'static str,
        tasks: &str,
        variables: &[(&str, &str)],
    ) -> &mut Seat {
        let tasks: Vec<&str> = tasks.split(',').filter(|task| self.has(task)).collect();
        let tasks = &*tasks.join(",");
        let on_demand = tasks.split(',').filter(|task| policy::of(task).is_some());
        let on_demand: Vec<&str> = on_demand.collect();
        if self.clerk.is_none() && !on_demand.is_empty() {
            let clerk = Clerk::start(&self.place, &on_demand, self.seed, self.mistake);
            self.clerk = Some(clerk);
        }
        let name = format!("w{}", self.seats.len());
        let mut all = vec![("TASKLOCK_ONLY", tasks), ("TASKLOCK_SHUTDOWN_GRACE", "3s")];
        if !variables
            .iter()
            .any(|(name, _)| *name == "TASKLOCK_WORKER_NAME")
        {
            all.push(("TASKLOCK_WORKER_NAME", &name));
        }
        if on_demand
            .iter()
            .any(|task| policy::of(task).is_some_and(|policy| policy.shares))
        {
            all.push(("FAULT_HANDS", "1"));
        }
        all.extend_from_slice(variables);
        let seat = Seat::start(&self.place, self.folder.path(), &name, program, &all);
        self.seats.push(seat);
        self.seats.last_mut().expect("it was just put there")
    }

    /// Whether the store can have this task: on Redis none ends in a transaction of its own.
    fn has(&self, task: &str) -> bool {
        let completes = policy::of(task).is_some_and(|policy| policy.completes);
        !(completes && self.place.is_redis())
    }

    fn busy(&self) {
        tasklock_test_support::wait::eventually(BOUND, || {
            for seat in &self.seats {
                let worker = &seat.worker;
                assert!(worker.ended().is_none(), "{}", worker.report());
            }
            self.is_ordering() && self.seats.iter().any(|seat| !seat.held().is_empty())
        });
    }

    /// Whether jobs of each task have been asked for, if any are.
    fn is_ordering(&self) -> bool {
        self.clerk.as_ref().is_none_or(Clerk::has_begun)
    }

    /// The seat that holds the most leases, waited for until it holds one, and until jobs have been asked for.
    pub(crate) fn holder(&self) -> usize {
        tasklock_test_support::wait::eventually_some(BOUND, || {
            if !self.is_ordering() {
                return None;
            }
            let held = |index: &usize| self.seats[*index].held().len();
            let most = (0..self.seats.len()).max_by_key(held)?;
            (held(&most) > 0).then_some(most)
        })
    }

    pub(crate) fn tell_all(&self, order: &str) {
        for seat in &self.seats {
            seat.tell(order);
        }
    }

    /// Everything runs again or ends, then everybody stops; the store and the ledgers are read and judged.
    pub(crate) async fn settle(mut self, scenario: &str, canary: Canary) -> Verdict {
        let book = self.close_the_desk().await;
        let has_orders = book.is_some();
        // Who takes a name by hand goes before the jobs that need it, as often as he likes.
        tokio::task::block_in_place(|| self.tell_all("rest"));
        let lost = self.place.all_run_again().await;
        assert_eq!(lost, 0, "{scenario}: jobs are lost: {}", self.reports());
        let verdict = self.judged(book.unwrap_or_default(), true).await;
        self.print(scenario, &verdict, lost);
        self.must_be_sound(&verdict);
        let orders = verdict.jobs.entered + verdict.jobs.unknown + verdict.jobs.rolled_back;
        assert!(!has_orders || orders > 0, "{scenario}: nothing was ordered");
        assert!(self.bitten > 0, "{scenario}: no fault bit");
        match canary {
            Canary::Overlaps => {
                assert!(verdict.canaries > 0, "{scenario}: it did not bite through")
            }
            Canary::Never => {
                let prompt = verdict.prompt_canaries;
                assert_eq!(prompt, 0, "{scenario}: unguarded overlaps without a pause");
            }
            Canary::Any => {}
        }
        verdict
    }

    async fn close_the_desk(&mut self) -> Option<Book> {
        match self.clerk.take() {
            Some(clerk) => Some(clerk.stop().await),
            None => None,
        }
    }

    /// Stops everybody in the midst of it, and judges.
    pub(crate) async fn verdict(&mut self) -> Verdict {
        let book = self.close_the_desk().await.unwrap_or_default();
        self.judged(book, false).await
    }

    async fn judged(&mut self, book: Book, settled: bool) -> Verdict {
        for seat in &self.seats {
            if seat.worker.ended().is_none() {
                seat.worker.term();
            }
        }
        for seat in &self.seats {
            seat.worker.wait_exit(BOUND);
        }
        let log = audit::read(&self.place).await;
        let elsewhere = elsewhere::read(&self.place, &log).await;
        let rows = audit::rows_of_names(&log);
        let mut beliefs: Vec<_> = self.seats.iter().flat_map(Seat::beliefs).collect();
        for belief in beliefs.iter_mut().filter(|belief| belief.job == 0) {
            let row = belief
                .name
                .and_then(|number| rows.get(&names::name(number)));
            belief.job = row.copied().unwrap_or_default();
        }
        let evidence = Evidence {
            log,
            elsewhere,
            beliefs,
            offset: offset(),
            book,
            rows: self.place.rows().await,
            bookings: self.place.bookings().await,
            settled,
        };
        let mut verdict = judge(&evidence);
        life::judge(&evidence, &mut verdict);
        orders::judge(&evidence, &mut verdict);
        elsewhere::judge(&evidence, &mut verdict);
        verdict
    }

    pub(crate) fn must_be_sound(&self, verdict: &Verdict) {
        let shown: Vec<&str> = verdict.violations.iter().take(20).map(|it| &**it).collect();
        assert!(
            shown.is_empty(),
            "{} violations with TASKLOCK_FAULTS_SEED={}, among them:\n{}\n{}",
            verdict.violations.len(),
            self.seed,
            shown.join("\n"),
            self.reports()
        );
    }

    /// What every worker has said.
    fn reports(&self) -> String {
        let reports: Vec<_> = self.seats.iter().map(|seat| seat.worker.report()).collect();
        reports.join("\n")
    }

    /// One row of the table.
    fn print(&self, scenario: &str, verdict: &Verdict, lost: i64) {
        let mut takeovers = verdict.takeovers.clone();
        takeovers.sort_unstable();
        let at = |index: usize| takeovers.get(index).map_or(0, Duration::as_millis);
        let margin = verdict.margins.iter().min();
        say(&format!(
            "| {scenario} | {} | {} | {} | {} | {lost} | {} / {} ms ({}) | {} |",
            self.place.name(),
            self.bitten,
            verdict.overlaps,
            verdict.canaries,
            at(takeovers.len() / 2),
            at(takeovers.len().saturating_sub(1)),
            takeovers.len(),
            margin.map_or("-".into(), |margin| format!("{} ms", margin.as_millis())),
        ));
        if verdict.jobs.entered > 0 {
            say(&format!(
                "{scenario} on {}: {} runs; {} names taken, {} of them with a takeover; {:?}",
                self.place.name(),
                verdict.acquired,
                verdict.names,
                verdict.inherited,
                verdict.jobs
            ));
        }
    }
}

/// One line on standard error, whatever the harness captures.
pub(crate) fn say(line: &str) {
    let _ = std::io::stderr().write_all(format!("faults: {line}\n").as_bytes());
}

/// The wall clock, which is the store's on one machine, less the time since boot, in microseconds.
fn offset() -> i64 {
    // The pair of readings that was closest together.
    let best = (0..100)
        .map(|_| {
            let before = boottime();
            let wall = SystemTime::now();
            (boottime() - before, before, wall)
        })
        .min_by_key(|(apart, ..)| *apart);
    let (_, boot, wall) = best.expect("there are some");
    let wall = wall
        .duration_since(UNIX_EPOCH)
        .expect("it is later than 1970");
    let micros = |time: Duration| i64::try_from(time.as_micros()).expect("it fits");
    micros(wall) - micros(boot)
}
