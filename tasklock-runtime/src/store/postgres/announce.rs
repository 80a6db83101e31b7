//! What workers are told over the channel of work, at the commit of the transaction that says it.
//!
//! | payload | means |
//! | --- | --- |
//! | (none) | work may have come |
//! | `due INSTANT` | a job falls due then |
//! | `look WORKER TASKS AT NEXT` | this worker has looked for these tasks, and something happens to them next (or nothing) |
//!
//! Instants are microseconds, the other two are numbers in hexadecimal. Whatever else there is belongs to somebody's test of
//! the channel.

use sqlx::PgConnection;

use super::statements::Statements;
use crate::store::sql::Columns;
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

/// Tells when the next one of the slots that follow these ends falls due; those who look then need not have looked before.
pub(super) async fn next_slot(
    connection: &mut PgConnection,
    statements: &Statements,
    ends: &[Finish],
) -> Result<(), sqlx::Error> {
    let slots = ends.iter().filter(|end| matches!(end.then, Then::Slot(_)));
    let slots: Vec<Columns> = slots.map(Columns::of).collect();
    let next_at = slots.iter().filter_map(|slot| slot.next_at).min();
    let next_in = slots.iter().filter_map(|slot| slot.next_in).min();
    if next_at.or(next_in).is_none() {
        return Ok(());
    }
    sqlx::query(&statements.tell_slot)
        .bind(&statements.channel)
        .bind(next_at)
        .bind(next_in)
        .execute(connection)
        .await
        .map(|_| ())
}

/// What a look says before its two instants.
pub(super) fn looked(looker: Looker) -> String {
    format!("look {:x} {:x} ", looker.worker, looker.tasks)
}

/// What was said.
pub(super) fn heard(said: &str) -> Option<Wake> {
    let mut words = said.split(' ');
    match words.next()? {
        "" => Some(Wake::Work),
        "due" => words.next()?.parse().ok().map(Wake::Due),
        "look" => {
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
        assert_eq!(heard("due -5"), Some(Wake::Due(-5)));
        for other in ["due", "due x", "look", "look 1 2 x 4", "d3adbeef"] {
            assert_eq!(heard(other), None, "{other}");
        }
    }
}
