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
    (
        "row and row.state == 'running' and row.fence == fence and row.owner == owner",
        "row and row.state == 'running'",
    ),
    (" AND e.fence = j.fence AND e.owner = j.lock_owner", ""),
    (
        " AND tasklock_job.fence = e.fence AND lock_owner = e.owner",
        "",
    ),
];
/// Of jobs of which nothing is kept: there the end is a DELETE.
const NO_FENCE_IN_DELETES: Replacements = &[
    (
        "WHERE j.id = e.id AND e.fence = j.fence AND e.owner = j.lock_owner
            AND coalesce(j.state, '') = 'running' FOR UPDATE SKIP LOCKED) j
)
DELETE",
        "WHERE j.id = e.id AND coalesce(j.state, '') = 'running' FOR UPDATE SKIP LOCKED) j
)
DELETE",
    ),
    (
        "AND (id, fence, lock_owner) IN
      (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?1))",
        "",
    ),
];
/// The lock is said to be had, and is not.
const NO_LOCK_OF_LIMITS: Replacements = &[(
    "THEN pg_try_advisory_xact_lock(hashtextextended(",
    "THEN 0 <> (hashtextextended(",
)];
/// With an index to match.
const KEY_OF_THE_WAITING: Replacements = &[(
    "WHERE unique_key IS NOT NULL AND state IN ('ready', 'running')",
    "WHERE unique_key IS NOT NULL AND state = 'ready'",
)];
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
    // Expired rows are found where the claim has put them.
    (
        "call('ZADD', base .. ':running:' .. row[7], till, id)\n        renewed",
        "renewed",
    ),
];
/// Whoever has the row now.
const NO_OWNER_IN_RENEWALS: Replacements = &[(
    "row[1] == 'running' and row[2] == ARGV[i + 1] and row[3] == ARGV[i + 2] and not cancelled",
    "row[1] == 'running' and not cancelled",
)];

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

fn replacements(mistake: &str) -> Replacements {
    match mistake {
        "the guard ignores the fence" => NO_FENCE_IN_GUARD,
        "ends ignore the fence" => NO_FENCE_IN_ENDS,
        "ends that delete ignore the fence" => NO_FENCE_IN_DELETES,
        "now() in a long transaction" => NOW,
        "takeover ignores renewals" => NO_SIDE_ROW,
        "renewals ignore the owner" => NO_OWNER_IN_RENEWALS,
        "runs are counted without a lock" => NO_LOCK_OF_LIMITS,
        "a key is free once its job runs" => KEY_OF_THE_WAITING,
        _ => &[],
    }
}

/// The statement with this mistake, and how often it was made.
#[must_use]
pub fn replaced(mistake: &str, mut sql: String) -> (String, usize) {
    let mut made = 0;
    for (right, wrong) in replacements(mistake) {
        if sql.contains(right) {
            made += 1;
            sql = sql.replace(right, wrong);
        }
    }
    (sql, made)
}

pub(crate) fn in_statement(sql: String) -> String {
    let (sql, made) = replaced(wanted().unwrap_or_default(), sql);
    MADE.fetch_add(made, Ordering::Relaxed);
    sql
}

/// A control whose mistake is not made any more, for the statement has changed, shows nothing.
pub(crate) fn must_have_been_made() {
    let made = MADE.load(Ordering::Relaxed);
    assert!(
        replacements(wanted().unwrap_or_default()).is_empty() || made > 0,
        "no statement has the text that {:?} replaces",
        wanted()
    );
}
