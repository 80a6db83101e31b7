//! What workers are told over the channel of work, at the commit of the transaction that says it.
//!
//! | payload | means |
//! | --- | --- |
//! | (none) | work may have come |
//! | `due INSTANT TASK` | the slot of a scheduled task that follows one that has ended |
//! | `look WORKER TASKS AT NEXT` | this worker has looked for these tasks, and something happens to them next (or nothing) |
//!
//! Instants are microseconds, the other two are numbers in hexadecimal. Whatever else there is belongs to somebody's test of
//! the channel.

use sqlx::PgConnection;

use super::statements::Statements;
use crate::store::{Finish, Looked, Looker, Wake};
use crate::task::Then;

/// Wakes every worker that listens.
pub(super) async fn work(
    connection: &mut PgConnection,
    statements: &Statements,
) -> Result<(), sqlx::Error> {
    sqlx::query("SELECT pg_notify($1, '')")
        .bind(&statements.channel)
        .execute(connection)
        .await
        .map(|_| ())
}

/// Tells when the slots fall due that follow those of these ends which were written: who looks then need not have looked
/// before.
pub(super) async fn next_slots(
    connection: &mut PgConnection,
    statements: &Statements,
    ends: &[Finish],
    written: &[i64],
) -> Result<(), sqlx::Error> {
    let slots = ends.iter().filter(|end| matches!(end.then, Then::Slot(_)));
    let jobs = slots.map(|end| end.key.job);
    let jobs: Vec<i64> = jobs.filter(|job| written.contains(job)).collect();
    if jobs.is_empty() {
        return Ok(());
    }
    sqlx::query(&statements.tell_slots)
        .bind(&statements.channel)
        .bind(jobs)
        .fetch_all(connection)
        .await
        .map(|_| ())
}

/// What a look says before its two instants.
pub(super) fn looked(looker: Looker) -> String {
    format!("look {:x} {:x} ", looker.worker, looker.tasks)
}

/// What was said.
pub(super) fn heard(said: &str) -> Option<Wake> {
    let (what, rest) = said.split_once(' ').unwrap_or((said, ""));
    match what {
        "" => Some(Wake::Work),
        "due" => {
            let (at, task) = rest.split_once(' ')?;
            let (at, task) = (at.parse().ok()?, task.to_owned());
            Some(Wake::Due { at, task })
        }
        "look" => {
            let mut words = rest.split(' ');
            let mut number = || u64::from_str_radix(words.next()?, 16).ok();
            let looker = Looker {
                worker: number()?,
                tasks: number()?,
            };
            Some(Wake::Looked(Looked {
                looker,
                at: words.next()?.parse().ok()?,
                next: words.next()?.parse().ok(),
            }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_heard() {
        let looker = Looker {
            worker: u64::MAX,
            tasks: 10,
        };
        let look = |next: &str| heard(&format!("{}17 {next}", looked(looker)));
        let looked = |next| {
            let at = 17;
            Some(Wake::Looked(Looked { looker, at, next }))
        };
        assert_eq!(look("21"), looked(Some(21)));
        assert_eq!(look(""), looked(None));
        assert_eq!(heard(""), Some(Wake::Work));
        let due = Wake::Due {
            at: -5,
            task: "a task".to_owned(),
        };
        assert_eq!(heard("due -5 a task"), Some(due));
        for other in [
            "due",
            "due 5",
            "due x y",
            "look",
            "look 1 2 x 4",
            "d3adbeef",
        ] {
            assert_eq!(heard(other), None, "{other}");
        }
    }
}
