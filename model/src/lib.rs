//! A model of the lease protocol, searched exhaustively within bounds. It is not published, and no
//! other crate depends on it.
//!
//! The argument why a lease is safe stands in `tasklock-runtime`, in the docs of `lease` and `store`. It
//! is prose. Here the same steps are written down once more, as small as they can be, and a model
//! checker ([`stateright`]) takes them in every order: what the argument forgot, it tries.
//!
//! # What is modelled
//!
//! A [`State`](state::State) is a few worker processes, one job row per lease name with its side row
//! of renewals, and the statements in flight. An [`Action`] is one atomic step of one party.
//!
//! | action | what it stands for in the code |
//! | --- | --- |
//! | `SendClaim` | `Scheduler::look`: the clock is read, then the claim is sent |
//! | `ApplyClaim` of a ready row | `CLAIM_DUE`: one statement, one lock, one commit |
//! | `ApplyClaim` of an expired row, `LockRow` | `LOCK_EXPIRED`: its snapshot, then its lock, with time in between |
//! | `Take` | `TAKE_EXPIRED` and COMMIT: the second look at the side row, under the lock |
//! | `DeliverClaim` | `Scheduler::grant` and `Run::guard`: a grant past its own deadline is not started |
//! | `AbandonClaim` | `Scheduler::resolve_doubts`, `Store::abandon` |
//! | `SendBeat` | `beat::renew`: `t0`, then `RENEW`; `heartbeat` says how early |
//! | `BeginBeat`, `CommitBeat` | `RENEW`: the shared lock or the skip, `clock_timestamp() + ttl`; the write, never backwards, and the commit |
//! | `DeliverBeat` | `LeaseStatus::extend`; or `Renewer::inspect`, and `LeaseStatus::lose` if the row is somebody else's |
//! | `TimeOutBeat` | the call's time-out and `Renewer::reset`: what was sent may still be carried out |
//! | `SendEnd` | `Run::settle`: renewals joined (`Heartbeat::forget`), the lease marked as given back, then `FINISH`, `RELEASE`, or the COMMIT of a `complete_in` |
//! | `ApplyEnd`, `TimeOutEnd` | `completion::write_batch`: lock, compare, write; skipped rows and lost replies are tried again |
//! | `AskGuard`, `EnterGuard`, `CommitGuard`, `AbortGuard` | `commit(tx)` and `complete_in(tx)`: the guard statement, and the end of the user's transaction |
//! | `Crash` | SIGKILL, an abort, a dropped handler |
//! | `ApplyStray` | a statement whose sender is gone, or waits no longer: the late duplicate of a renewal, a second end |
//!
//! **Pauses** need no action of their own. No step is ever forced, so any process may stand still at any
//! point, for any time, while the others and the clocks go on: SIGSTOP, a blocked runtime, a
//! machine that is suspended. The same goes for messages: none is in a hurry, and each may be lost.
//!
//! **Clocks.** Time is in ticks, and no state holds an instant, only ticks from now. So what a clock
//! *shows* cannot matter, and no horizon is needed: an instance covers runs of any length. What
//! matters of a local clock is by how much it is wrong over the time in which one reading of it is
//! trusted. The model chooses that at the reading: `late` ticks are lost, up to
//! [`drift`](Config::drift). A clock that loses `d` ticks of a trust of `n` lets `check()` succeed for
//! `n + d`. Two readings may be wrong by different amounts, which allows for more than a real clock does. A
//! clock that gains is not tried: its holder stops earlier, as any holder may. A tick of the store's
//! clock is a tick of real time, and it may once step in either direction.
//!
//! **Ticks and real time.** A lease has expired *at* its `lock_until`; the statements say `<`. Two
//! instants with the same reading may be almost a tick apart, so the model allows what the finer clock of
//! a real store would: a bound that holds with `drift = margin` holds for every rate below it.
//!
//! # What is checked
//!
//! See [`properties`]: P1 (fences increase), P2 (intervals do not overlap), P3 (nobody trusts a lease
//! after a later grant), P4 (no guarded commit after a later grant; and, more than asked, none after
//! the end of its own run), P5 (lost stays lost), P6 (one end, under one's own fence). P1, P2, P4 and P6 are compared in
//! the step that could break them; P3 and P5 can be read off any state, since `check()` is a function of
//! the clock and one word.
//!
//! A model in which little can happen is safe, and worthless. So fifteen events must be reached, from
//! "a takeover's second look saved a renewed lease" to "a guarded transaction committed whose process had
//! lost trust"; and each of the [`controls`], the protocol with a known fault, must break the properties
//! that it is known to break.
//!
//! # What the controls taught
//!
//! - *P4 needs no clock.* It holds under every step of the store's clock and every rate.
//! - *A step back of the store's clock breaks P2 alone*, by any amount, for readings repeat. A step *forward*
//!   breaks P3, when it is longer than what the rates have left of the margin.
//! - *Sticky loss carries more than P5.* A renewal that does not lock the job row can be confirmed after
//!   a takeover has committed, and the store's intervals overlap (P2). The holder still does not
//!   believe it: by then its deadline has passed. With both faults, P3 falls.
//! - *The takeover's second look matters most for leases that are not the ones it first saw.* When one
//!   statement does it all, P2 falls at once; P3 falls when the statement's snapshot is older than the
//!   whole grant that it takes away.
//! - *The word must say "given back" before the end is sent.* A handle that outlives its handler, in
//!   a task that the handler spawned, would else pass `check()` beside the next owner.
//!
//! # What is left out
//!
//! - **Stores with one writer** (SQLite, memory, Redis scripts): their steps are whole transactions, a
//!   subset of the orders tried here. That a stale snapshot there passes a guard that only reads is the
//!   control "guard without a lock".
//! - **Isolation levels** beyond what a statement sees: a snapshot is taken, a lock is got, a row is looked at
//!   again. At REPEATABLE READ and SERIALIZABLE a stale guard fails with an error instead of zero
//!   rows; here it is refused. Deadlocks and the retries after them are left out; they repeat whole steps.
//! - **Owner tokens.** A row is compared by fence, which belongs to one token as long as P1 holds. What two
//!   workers with one token do is not modelled.
//! - **Batches.** One renewal is about one lease, and a process has one run at a time. Leases of one
//!   process share a clock and a connection, which couples only when they are renewed, not what a
//!   confirmation means. A second run in a process is a second worker that is never paused.
//! - **A claim that is carried out after its process has gone on.** A paused worker is that.
//! - **Failover** that loses commits, and backends that are not linearizable. There P1 itself is at
//!   stake, and no lease protocol can mend it.
//! - **Liveness** (P7), and whether an effect outside of the store is exclusive, which it is not.
//! - **Orphan side rows.** A side row of a spent fence counts for nothing, and is not kept.
//! - **The grants per name** are bounded: three let a worker lose a lease, see another take it, and come
//!   back to take it again, while everything that it sent the first time is still in flight.
//!
//! Faults in the code that the steps above do not show, such as a wrong comparison in SQL, are for the
//! conformance suite and the fault harness, on real servers.

mod actions;
mod choices;
mod config;
pub mod controls;
mod explore;
pub mod history;
pub mod properties;
pub mod state;
mod step;
mod store;

pub use actions::Action;
pub use config::{Bug, Config};
pub use explore::{Report, Trace, Until, explore};
