//! Known mistakes, which the oracle must catch. Those in statements are made here, by replacing a part;
//! those in code stand in the runtime, asked for by name.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// In every statement that has the first text, the second one takes its place.
type Replacements = &'static [(&'static str, &'static str)];

const NO_FENCE_IN_GUARD: Replacements = &[
    (
        "WHERE id = $1 AND fence = $2 AND lock_owner = $3 AND state = 'running'",
        "WHERE id = $1 AND $2::bigint > 0 AND $3::text <> ''",
    ),
    (
        "WHERE id = ?1 AND fence = ?2 AND lock_owner = ?3 AND state = 'running'",
        "WHERE id = ?1 AND ?2 > 0 AND ?3 <> ''",
    ),
];
const NO_FENCE_IN_ENDS: Replacements = &[
    (" AND e.fence = j.fence AND e.owner = j.lock_owner", ""),
    (" AND {p}job.fence = e.fence AND lock_owner = e.owner", ""),
    (
        " AND tasklock_job.fence = e.fence AND lock_owner = e.owner",
        "",
    ),
];
const NOW: Replacements = &[
    ("clock_timestamp()", "now()"),
    ("statement_timestamp()", "now()"),
];
const NO_SIDE_ROW: Replacements = &[
    ("h.lock_until >= statement_timestamp()", "false"),
    // One row serves here: the expiry of the claim alone, without the renewals.
    (
        "state = 'running' AND lock_until < ",
        "state = 'running' AND claimed_at + (SELECT value ->> 2 FROM json_each(?1) WHERE value ->> 0 = task) < ",
    ),
];

static MADE: AtomicUsize = AtomicUsize::new(0);

fn wanted() -> Option<&'static str> {
    static WANTED: OnceLock<Option<String>> = OnceLock::new();
    WANTED
        .get_or_init(|| std::env::var("FAULT_MISTAKE").ok())
        .as_deref()
}

pub(crate) fn is(name: &str) -> bool {
    wanted() == Some(name)
}

fn replacements() -> Replacements {
    match wanted() {
        Some("the guard ignores the fence") => NO_FENCE_IN_GUARD,
        Some("ends ignore the fence") => NO_FENCE_IN_ENDS,
        Some("now() in a long transaction") => NOW,
        Some("takeover ignores renewals") => NO_SIDE_ROW,
        _ => &[],
    }
}

pub(crate) fn in_statement(mut sql: String) -> String {
    for (right, wrong) in replacements() {
        if sql.contains(right) {
            MADE.fetch_add(1, Ordering::Relaxed);
            sql = sql.replace(right, wrong);
        }
    }
    sql
}

/// A control whose mistake is not made any more, for the statement has changed, shows nothing.
pub(crate) fn must_have_been_made() {
    let made = MADE.load(Ordering::Relaxed);
    assert!(
        replacements().is_empty() || made > 0,
        "no statement has the text that {:?} replaces",
        wanted()
    );
}
