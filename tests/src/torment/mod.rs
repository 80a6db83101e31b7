//! What is the same in every worker program that the fault tests torment: it keeps a ledger of what it
//! believed, does guarded and unguarded work under its leases, and obeys commands to do bad things to
//! itself.
//!
//! | variable | |
//! | --- | --- |
//! | `FAULT_LEDGER` | the ledger's file; commands are looked for in this file's name with `.command` after it |
//! | `FAULT_MISTAKE` | a known mistake that the runtime, or its statements, shall have |
//! | `FAULT_CLOCK` | a clock that is not the system's |
//! | `FAULT_EFFECTS` | a SQLite file for effects, where the leases' store takes no transactions |
//! | `FAULT_HANDS` | it takes names by hand, too, that jobs take as their resource |

mod clock;
mod command;
mod effect;
mod elsewhere;
mod hands;
pub mod ledger;
mod mistake;
pub mod names;
mod scripts;
mod watch;

pub use command::{at, finishing, lingering, panicky};
pub use effect::effect;
pub use mistake::replaced;
pub use scripts::recorded;
pub use watch::Run;

use tasklock_runtime::{Error, Runtime};

/// A worker's `main`.
///
/// # Errors
///
/// Those of the runtime.
///
/// # Panics
///
/// If a mistake is wanted that the statements do not allow any more.
pub fn run() -> Result<(), Error> {
    let threads = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(command::THREADS)
        .enable_all()
        .build()
        .expect("threads can be started");
    tasklock_runtime::fault::install(&command::INJECTED);
    watch::start();
    threads.block_on(async {
        tokio::spawn(command::obey());
        let mut builder = Runtime::builder();
        if let Some(clock) = clock::wanted() {
            builder = builder.clock(clock);
        }
        let runtime = builder.build().await?;
        mistake::must_have_been_made();
        let by_hand = std::env::var("FAULT_HANDS").is_ok_and(|hands| !hands.is_empty());
        let by_hand = by_hand.then(|| runtime.client());
        let by_hand = by_hand.map(|client| tokio::spawn(hands::work(client)));
        let ran = runtime.run().await;
        if let Some(by_hand) = by_hand {
            by_hand.abort();
        }
        ran
    })
}

/// The database that the runtime uses.
fn url() -> String {
    std::env::var("TASKLOCK_DATABASE_URL").expect("the test names the database")
}
