//! What holding a lease means. This module is pure: it knows clocks and atomics, never a database.
//!
//! # The argument
//!
//! A lease is an exclusive, expiring right over one job. In the store it is a row that names an
//! **owner token**, a **fence** and an expiry, `lock_until`; in the process that holds it, it is a
//! [`LeaseStatus`]: one word that is either the *deadline* up to which the lease may be trusted, or
//! the reason why it is lost. The row decides who may *write*; the word decides who may still
//! *believe*. Safety needs both, because neither side can see the other in time.
//!
//! ## States
//!
//! ```text
//! row       ready ──claim──▶ running(owner, fence, lock_until) ──finish, release──▶ ready
//!                              ▲        │ lock_until passes, unrenewed
//!                              └────────┴─takeover: a new owner, fence + 1
//!
//! process   Held(deadline) ──renewal confirmed──▶ Held(later deadline)
//!               │ deadline passes · someone else's row seen · given back
//!               └──▶ Lost(reason)          for ever: there is no way back
//! ```
//!
//! ## Who writes what
//!
//! | field | written by | when |
//! | --- | --- | --- |
//! | the row's owner, fence, first `lock_until` | the claimer | claim or takeover, by the store's clock, under the row's lock |
//! | later `lock_until`s | the holder's heartbeat thread | renewal, guarded by (owner, fence), never backwards |
//! | the row's end | the holder | finish or release, guarded by (owner, fence), after its renewals were stopped and joined |
//! | the deadline | the holder's heartbeat thread | after a confirmed renewal, by compare-and-swap from a deadline that has not passed |
//! | the end of belief | the run, once its handler is dropped | before the row's end is sent: a clone of the context may outlive the handler |
//! | the loss | whoever sees it first: heartbeat thread, or any `check()` | once, by compare-and-swap |
//!
//! ## Why a holder knows before anybody else can start (P3)
//!
//! Let `t0` be the local clock *before* a claim or renewal was sent, and `s` the store's clock when
//! it was carried out. The store grants up to `s + ttl`; the process believes up to
//! `t0 + ttl - margin`. The statement was carried out after it was sent, so in real time the
//! store's expiry comes at least `margin` after the local deadline, as long as the two clocks'
//! rates differ by less than `margin / ttl`. Nothing is assumed about what the clocks *show*, only that
//! nobody sets the store's forward by more than the margin in between (GUARANTEES.md tells what falls
//! when an assumption does, and what does not). A reply
//! that is slow only makes the belief shorter, and one that comes after the deadline it was to
//! extend is ignored ([`LeaseStatus::extend`]). The local clock counts suspended time
//! ([`BootClock`]), for the store's clock did not stop either.
//!
//! `check()` compares the clock with the word each time. No timer needs to have fired.
//!
//! ## Why a lost lease never comes back (P5)
//!
//! The word moves from a deadline to a later deadline only by compare-and-swap, and only when the
//! clock, read *after* the reply, has not reached the old one. The first reader past the deadline
//! swaps in the reason. Both swaps start from the same old value, so one of them fails: either the
//! extension was first and the reader looks again, or the loss was first and the extension is
//! dropped.
//!
//! ## Why a handler that stalls is lost
//!
//! A renewal shows that the process lives. Under `renew = "progress"` the status has a second deadline:
//! the last report (the claim, before there is one) plus the `stall`. `check()` compares the clock with
//! both each time, so that no timer needs to have fired for this either, and the belief is only ever
//! shorter for it: what is said above of the word holds whatever is reported. The heartbeat renews what
//! passes `check()`, so nothing is renewed any more from that moment on, and the row expires. A renewal
//! that was under way is worth nothing here, and keeps the row for one more ttl at most.
//!
//! A report moves the second deadline, never the word. It does so only if `check()` passes after the
//! clock was read, and up to that reading plus the stall: a thread that is paused in between writes what
//! was true when it began, and where anybody has seen the lease lost meanwhile, the word is a reason and
//! stays one. See [`Reports`](progress::Reports).
//!
//! ## How guard, heartbeat and takeover meet on the rows
//!
//! The job row is the mutex of every verb. Claim, takeover, finish and release lock it exclusively.
//! A renewal locks it in a shared mode and *skips* it where it cannot: its absence from the answer
//! means "busy", not "lost", and the holder keeps its old deadline and asks again. So a takeover and
//! a renewal of one row never overlap: either the renewal committed first, and the takeover, which
//! looks at the renewed expiry in a statement of its own *after* it has the lock, finds the lease
//! alive; or the takeover committed first, and the renewal finds another owner and changes nothing.
//! A guard (`commit`, `complete_in`) locks the row inside the caller's transaction in a mode that
//! excludes takeover, but not heartbeats, until that transaction ends. Renewals go to a side row
//! where the store has many writers, so that a guarded transaction at a snapshot isolation level
//! does not fail because of its own heartbeat. `store` tells how each database does it.
//!
//! ## What each crash leaves behind
//!
//! | the process dies | what is left | who mends it |
//! | --- | --- | --- |
//! | before the claim committed | nothing | |
//! | after it, before the reply | a running row of a token nobody works under | its expiry; the live process gives it back by token when only the reply was lost |
//! | while the handler runs | a running row, a side row | takeover after `lock_until` |
//! | in a renewal | an expiry up to one ttl ahead | takeover after it |
//! | before the finish committed | a running row; the work was done | takeover: the job runs again (at least once) |
//! | after it | a finished row, perhaps a stray side row of a spent fence | nobody: a side row counts only with its own fence |
//! | in a stop that came back later (SIGSTOP, suspend) | another owner's row | the first `check()` fails on the clock alone; late writes carry a spent fence and change nothing |

mod blocking;
mod clock;
mod commit;
mod completing;
mod context;
mod deadline;
mod fence;
mod guard;
#[cfg(any(test, feature = "testing"))]
mod hands;
mod identity;
#[cfg(any(test, feature = "testing"))]
mod loose;
mod lost;
mod progress;
mod renewals;
mod status;
#[cfg(any(test, feature = "testing"))]
pub(crate) mod testing;
mod unguarded;

pub use clock::{BootClock, Clock, Moment};
pub use context::{LeaseContext, RenewError};
pub use fence::{FenceError, FencedTransaction, fence_table};
pub use guard::{Anchor, CommitError, GuardedTransaction};
pub use identity::{LeaseKey, OwnerToken};
pub use lost::LeaseLost;
pub use progress::Progress;

pub(crate) use completing::Completing;
pub(crate) use context::{ContextParts, ResourceParts};
pub(crate) use deadline::Trust;
#[cfg(sql)]
pub(crate) use fence::sealed::Fenced;
pub use guard::sealed::Guarded;
#[cfg(any(test, feature = "testing"))]
pub(crate) use hands::HandClock;
pub(crate) use renewals::{RenewRequest, Renewals};
pub(crate) use status::LeaseStatus;
#[cfg(any(
    test,
    feature = "testing",
    feature = "postgres",
    feature = "sqlite",
    feature = "mysql"
))]
pub(crate) use unguarded::Unguarded;
