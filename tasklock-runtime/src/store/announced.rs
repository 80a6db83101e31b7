//! What workers are told over the channel of work.
//!
//! | payload | means |
//! | --- | --- |
//! | (none) | work may have come |
//! | `due INSTANT TASK` | the slot of a scheduled task that follows one that has ended |
//! | `look WORKER TASKS AT NEXT` | this worker has looked for these tasks, and something happens to them next (or nothing) |
//!
//! Instants are microseconds, the other two are numbers in hexadecimal. Whatever else there is belongs to somebody's test of
//! the channel.

use super::{Looked, Looker, Wake};

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
