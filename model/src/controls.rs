//! Negative controls: the protocol with a fault, or under an assumption that does not hold. For each,
//! the properties that must break; where the whole instance is searched, no other may.

use crate::config::{Bug, Config};
use crate::explore::{Report, Until, explore};
use crate::properties::{EARLY_LOSS, FENCE, GUARD, GUARD_END, INTERVALS, ONE_END, STICKY};

/// A control.
#[derive(Debug, Clone)]
pub struct Control {
    /// What it is called.
    pub name: &'static str,
    /// The instance.
    pub config: Config,
    /// The properties for which a counterexample must be found.
    pub breaks: &'static [&'static str],
    /// Whether the whole instance is searched, and no other property may be broken.
    pub whole: bool,
}

/// What the search of a control saw.
#[derive(Debug)]
pub struct Findings {
    /// The search for the counterexamples; it ends when they are found.
    pub counterexamples: Report,
    /// The search of the whole instance.
    pub whole: Option<Report>,
}

impl Control {
    /// Searches for the counterexamples with each worker keeping its number, so that the traces can be
    /// read; then the whole instance, with the numbers left out.
    #[must_use]
    pub fn search(&self) -> Findings {
        let mut config = Config {
            symmetry: false,
            ..self.config.clone()
        };
        let counterexamples = explore(&config, Until::Found(self.breaks.to_vec()));
        config.symmetry = true;
        let whole = self.whole.then(|| explore(&config, Until::Exhausted));
        Findings {
            counterexamples,
            whole,
        }
    }

    /// What is not as it should be: a counterexample that was not found, or one too many.
    #[must_use]
    pub fn complaints(&self, findings: &Findings) -> Vec<String> {
        let missed = self
            .breaks
            .iter()
            .filter(|name| !findings.counterexamples.found.contains_key(**name))
            .map(|name| format!("no counterexample of {name:?} was found"));
        let unexpected = findings
            .whole
            .iter()
            .flat_map(|report| report.found.keys())
            .filter(|name| !self.breaks.contains(name))
            .map(|name| format!("{name:?} was broken as well"));
        missed.chain(unexpected).collect()
    }
}

/// Every control.
#[must_use]
pub fn all() -> Vec<Control> {
    let mut controls = faults();
    controls.extend(assumptions());
    controls
}

/// The smallest instance. A `complete_in` that breaks P4 breaks P6 as well, and shows nothing more.
fn smallest(bugs: &'static [Bug]) -> Config {
    Config {
        grants: 2,
        complete_in: false,
        bugs,
        ..Config::small()
    }
}

/// Faults that show between one grant and the next.
fn two(name: &'static str, bugs: &'static [Bug], breaks: &'static [&'static str]) -> Control {
    Control {
        name,
        config: smallest(bugs),
        breaks,
        whole: true,
    }
}

/// Faults that need one grant more to show; not searched to the end, which would take long.
fn three(name: &'static str, bugs: &'static [Bug], breaks: &'static [&'static str]) -> Control {
    let mut control = two(name, bugs, breaks);
    control.config.grants = 3;
    control.whole = false;
    control
}

fn faults() -> Vec<Control> {
    // A reply that is late, and yet in time, needs a ttl that has room for it.
    let mut late_reply = two(
        "renewal's deadline taken from its reply",
        &[Bug::BeatDeadlineFromReply],
        &[EARLY_LOSS],
    );
    late_reply.config.ttl = 4;
    vec![
        late_reply,
        two(
            "claim's deadline taken from its reply",
            &[Bug::ClaimDeadlineFromReply],
            &[EARLY_LOSS],
        ),
        three(
            "finish without the fence",
            &[Bug::FinishWithoutFence],
            &[EARLY_LOSS, ONE_END],
        ),
        two(
            "guard without the fence",
            &[Bug::GuardWithoutFence],
            &[GUARD, GUARD_END],
        ),
        two(
            "guard without a lock",
            &[Bug::GuardWithoutLock],
            &[GUARD, GUARD_END],
        ),
        two("loss that is not sticky", &[Bug::LossNotSticky], &[STICKY]),
        two(
            "takeover that ignores the side row",
            &[Bug::TakeoverIgnoresSideRow],
            &[INTERVALS, EARLY_LOSS],
        ),
        three(
            "takeover in one statement",
            &[Bug::TakeoverInOneStatement],
            &[INTERVALS, EARLY_LOSS],
        ),
        two(
            "renewal that does not lock the job row",
            &[Bug::RenewalWithoutLock],
            &[INTERVALS],
        ),
        two(
            "renewal that does not lock the job row, and loss that is not sticky",
            &[Bug::RenewalWithoutLock, Bug::LossNotSticky],
            &[INTERVALS, EARLY_LOSS, STICKY],
        ),
        two(
            "renewal that moves the expiry backwards",
            &[Bug::RenewalBackwards],
            &[INTERVALS, EARLY_LOSS],
        ),
        three(
            "now() of the transaction's start",
            &[Bug::NowOfTransactionStart],
            &[EARLY_LOSS],
        ),
        // Its grants never come to an end.
        three("fence that begins anew", &[Bug::FenceRestarts], &[FENCE]),
        two(
            "handle that outlives its run",
            &[Bug::HandleOutlivesRun],
            &[EARLY_LOSS],
        ),
    ]
}

/// Assumptions that do not hold. The guard must not need them.
fn assumptions() -> [Control; 3] {
    let small = smallest(&[]);
    let beyond = small.margin + 1;
    [
        Control {
            name: "store's clock set back",
            config: Config {
                step_back: beyond,
                ..small.clone()
            },
            breaks: &[INTERVALS],
            whole: true,
        },
        Control {
            name: "store's clock set forward by more than the margin",
            config: Config {
                drift: 0,
                step_forward: beyond,
                ..small.clone()
            },
            breaks: &[EARLY_LOSS],
            whole: true,
        },
        Control {
            name: "local clock slower than the margin allows",
            config: Config {
                drift: beyond,
                ..small
            },
            breaks: &[EARLY_LOSS],
            whole: true,
        },
    ]
}
