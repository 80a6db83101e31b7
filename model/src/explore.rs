//! Exhaustive search, breadth first: a counterexample is as short as any.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use stateright::{Checker, HasDiscoveries, Model};

use crate::actions::Action;
use crate::config::Config;
use crate::properties::Instance;
use crate::state::State;

/// When a search ends before every state was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Until {
    /// It does not.
    Exhausted,
    /// As soon as each of these was found: counterexamples, or examples of *sometimes*.
    Found(Vec<&'static str>),
}

/// What a search saw.
#[derive(Debug, Clone)]
pub struct Report {
    /// The instance.
    pub config: Config,
    /// States that differ.
    pub unique: usize,
    /// States that were generated, the same ones counted again.
    pub generated: usize,
    /// The longest of the shortest paths.
    pub depth: usize,
    /// How long it took.
    pub took: Duration,
    /// Counterexamples of *always*, examples of *sometimes*.
    pub found: BTreeMap<&'static str, Trace>,
}

/// A path from the beginning: each step, and the state after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace(pub Vec<(Action, State)>);

/// Searches an instance, on one thread.
#[must_use]
pub fn explore(config: &Config, until: Until) -> Report {
    let began = Instant::now();
    let builder = Instance::new(config.clone()).checker();
    let builder = match until {
        Until::Exhausted => builder,
        Until::Found(names) => {
            builder.finish_when(HasDiscoveries::AllOf(names.into_iter().collect()))
        }
    };
    let checker = builder.spawn_bfs().join();
    let found = checker
        .discoveries()
        .into_iter()
        .map(|(name, path)| (name, Trace::of(path.into_vec())))
        .collect();
    Report {
        config: config.clone(),
        unique: checker.unique_state_count(),
        generated: checker.state_count(),
        depth: checker.max_depth(),
        took: began.elapsed(),
        found,
    }
}

impl Trace {
    /// A path pairs each state with the step that leaves it; a trace, with the one that led there.
    fn of(path: Vec<(State, Option<Action>)>) -> Self {
        let (states, actions): (Vec<_>, Vec<_>) = path.into_iter().unzip();
        Self(
            actions
                .into_iter()
                .flatten()
                .zip(states.into_iter().skip(1))
                .collect(),
        )
    }

    /// The number of steps.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it is the beginning itself.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (action, state)) in self.0.iter().enumerate() {
            writeln!(f, "  {:>3}. {action:?}\n       {state}", number + 1)?;
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let config = &self.config;
        write!(
            f,
            "workers {}, names {}, grants {}, strays {}, ttl {}, margin {}, heartbeat {}, drift {}, \
             steps of the store's clock -{} +{}: {} unique states of {} generated, depth {}, {:.1} s",
            config.workers,
            config.names,
            config.grants,
            config.strays,
            config.ttl,
            config.margin,
            config.heartbeat,
            config.drift,
            config.step_back,
            config.step_forward,
            self.unique,
            self.generated,
            self.depth,
            self.took.as_secs_f64(),
        )
    }
}
