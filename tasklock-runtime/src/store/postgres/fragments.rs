//! What several statements say alike, so that no row, whoever wrote it, makes one of them fail: an error
//! in one row would be the end of all work, for every claim meets it again.

use crate::store::sql::{FIRST, LAST};

/// The parts in braces that are not names of tables.
pub(super) struct Fragments([(&'static str, String); 8]);

impl Fragments {
    pub(super) fn new() -> Self {
        Self([
            (
                "{now}",
                "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint".to_owned(),
            ),
            ("{due}", micros("j.due_at")),
            ("{until}", micros("greatest(j.lock_until, h.lock_until)")),
            ("{event}", micros("e.at")),
            // There is no fence after the last one, and none may be given out twice.
            ("{claimable}", format!("j.fence < {}", i64::MAX)),
            ("{attempt_more}", one_more("j.attempt")),
            ("{crash_more}", one_more("j.crashes")),
            // A side row of a fence that is only now given out, or of a later one, is nobody's renewal: it
            // would refuse those to come, or pass for one. `c` has locked the job, so nobody renews.
            (
                "{stray}",
                "s AS (
    DELETE FROM {s}{p}heartbeat h USING c
    WHERE h.job_id = c.id AND h.job_id = ANY(ARRAY(SELECT c.id FROM c)) AND h.fence >= c.fence
)"
                .to_owned(),
            ),
        ])
    }

    pub(super) fn fill(&self, sql: &str) -> String {
        let fill = |sql: String, (name, part): &(&str, String)| sql.replace(name, part);
        self.0.iter().fold(sql.to_owned(), fill)
    }
}

/// An instant in microseconds. Infinity, and years that do not fit in a `bigint`, are cut to what does.
fn micros(at: &str) -> String {
    let [first, last] = [FIRST, LAST].map(|at| format!("to_timestamp({})", at / 1_000_000));
    format!(
        "(CASE WHEN {at} < {first} THEN {FIRST} WHEN {at} > {last} THEN {LAST} \
         ELSE (extract(epoch FROM {at}) * 1000000)::bigint END)"
    )
}

/// A count that stops at the last number, and starts from zero.
fn one_more(count: &str) -> String {
    format!("least(greatest({count}, 0), {}) + 1", i32::MAX - 1)
}
