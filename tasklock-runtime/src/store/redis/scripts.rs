//! The scripts, each with the parts that it needs in front of it.

use crate::fault;
use crate::store::{LEASES, PATIENCE};
use crate::task::micros;

const BASE: &str = include_str!("scripts/base.lua");
const LEASED: &str = include_str!("scripts/leases.lua");
const TASKS: &str = include_str!("scripts/tasks.lua");

/// A script, and the hash by which the server knows it.
#[derive(Debug)]
pub(super) struct Script {
    pub(super) hash: String,
    pub(super) text: String,
}

/// The scripts of one store.
#[derive(Debug)]
pub(super) struct Scripts {
    pub(super) abandon: Script,
    pub(super) acquire: Script,
    pub(super) assign: Script,
    pub(super) cancel: Script,
    pub(super) claim: Script,
    pub(super) declare: Script,
    pub(super) declaring: Script,
    pub(super) enqueue: Script,
    pub(super) finish: Script,
    pub(super) inspect: Script,
    pub(super) jobs: Script,
    pub(super) leave: Script,
    pub(super) migrate: Script,
    pub(super) missing: Script,
    pub(super) now: Script,
    pub(super) pause: Script,
    pub(super) paused: Script,
    pub(super) prune: Script,
    pub(super) redeclare: Script,
    pub(super) release: Script,
    pub(super) renew: Script,
    pub(super) retry: Script,
    pub(super) standing: Script,
    pub(super) tell: Script,
    pub(super) tend: Script,
    pub(super) trigger: Script,
    pub(super) version: Script,
}

impl Scripts {
    pub(super) fn new() -> Self {
        Self {
            abandon: of(&[LEASED, include_str!("scripts/abandon.lua")]),
            acquire: of(&[LEASED, include_str!("scripts/acquire.lua")]),
            assign: of(&[LEASED, include_str!("scripts/assign.lua")]),
            cancel: of(&[LEASED, include_str!("scripts/cancel.lua")]),
            claim: of(&[LEASED, include_str!("scripts/claim.lua")]),
            declare: of(&[include_str!("scripts/declare.lua")]),
            declaring: of(&[TASKS, include_str!("scripts/declaring.lua")]),
            enqueue: of(&[include_str!("scripts/enqueue.lua")]),
            finish: of(&[LEASED, include_str!("scripts/finish.lua")]),
            inspect: of(&[include_str!("scripts/inspect.lua")]),
            jobs: of(&[include_str!("scripts/jobs.lua")]),
            leave: of(&[LEASED, include_str!("scripts/leave.lua")]),
            migrate: of(&[include_str!("scripts/migrate.lua")]),
            missing: of(&[TASKS, include_str!("scripts/missing.lua")]),
            now: of(&[include_str!("scripts/now.lua")]),
            pause: of(&[include_str!("scripts/pause.lua")]),
            paused: of(&[include_str!("scripts/paused.lua")]),
            prune: of(&[include_str!("scripts/prune.lua")]),
            redeclare: of(&[TASKS, include_str!("scripts/redeclare.lua")]),
            release: of(&[LEASED, include_str!("scripts/release.lua")]),
            renew: of(&[include_str!("scripts/renew.lua")]),
            retry: of(&[LEASED, include_str!("scripts/retry.lua")]),
            standing: of(&[include_str!("scripts/standing.lua")]),
            tell: of(&[LEASED, include_str!("scripts/tell.lua")]),
            tend: of(&[TASKS, include_str!("scripts/tend.lua")]),
            trigger: of(&[LEASED, TASKS, include_str!("scripts/trigger.lua")]),
            version: of(&[include_str!("scripts/version.lua")]),
        }
    }
}

fn of(parts: &[&str]) -> Script {
    let code = [&[BASE], parts].concat().join("\n");
    let code = code
        .replace("$LEASES", LEASES)
        .replace("$PATIENCE", &micros(PATIENCE).to_string());
    let text = fault::statement(code);
    let hash = redis::Script::new(&text).get_hash().to_owned();
    Script { hash, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placeholder_is_filled() {
        for script in [BASE, LEASED, TASKS] {
            let filled = script.replace("$LEASES", "").replace("$PATIENCE", "");
            assert!(!filled.contains('$'), "{filled}");
        }
    }
}
