//! The faults.

use std::time::Duration;

/// What a [`Proxy`](super::Proxy) does with bytes and connections that arrive while it is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Everything passes.
    #[default]
    Pass,
    /// Everything passes, each piece later; a request and its reply take the sum. A piece that is
    /// being delayed when the mode changes still comes late.
    Delay {
        /// From the client to the server.
        requests: Duration,
        /// From the server to the client.
        replies: Duration,
    },
    /// A network that stands still: nothing passes, and all of it arrives when the mode changes.
    Hold,
    /// What the client sends is lost; the server never hears of it. That direction of such a
    /// connection stays dead when the mode changes, as bytes are missing from it.
    LoseRequests,
    /// What the server sends is lost: a request is carried out, and the client does not hear so.
    /// That direction stays dead, as above.
    LoseReplies,
    /// New connections are reset at once. Open ones go on: [`reset_all`](super::Proxy::reset_all)
    /// after it makes the server look gone.
    Refuse,
    /// Each connection ends after it has brought the client this many more bytes, counted from the
    /// moment that this mode is set: the client sees its end, the server a reset.
    CutReplies {
        /// How many bytes still arrive.
        after: u64,
    },
}

impl Mode {
    /// The same delay in both directions.
    pub fn delay(each_way: Duration) -> Mode {
        Mode::Delay {
            requests: each_way,
            replies: each_way,
        }
    }
}

/// A mode, and which one it is: setting the same mode again begins it anew.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Setting {
    pub(super) mode: Mode,
    pub(super) number: u64,
}

impl Setting {
    pub(super) fn switch(&mut self, mode: Mode) {
        *self = Setting {
            mode,
            number: self.number + 1,
        };
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Requests,
    Replies,
}

/// What a mode means for a piece that arrives in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Pass,
    PassAfter(Duration),
    Hold,
    Lose,
    PassUpTo(u64),
}

impl Mode {
    pub(super) fn fate(self, direction: Direction) -> Fate {
        match (self, direction) {
            (Mode::Delay { requests, .. }, Direction::Requests) => Fate::PassAfter(requests),
            (Mode::Delay { replies, .. }, Direction::Replies) => Fate::PassAfter(replies),
            (Mode::Hold, _) => Fate::Hold,
            (Mode::LoseRequests, Direction::Requests) => Fate::Lose,
            (Mode::LoseReplies, Direction::Replies) => Fate::Lose,
            (Mode::CutReplies { after }, Direction::Replies) => Fate::PassUpTo(after),
            (
                Mode::Pass
                | Mode::Refuse
                | Mode::LoseRequests
                | Mode::LoseReplies
                | Mode::CutReplies { .. },
                _,
            ) => Fate::Pass,
        }
    }
}
