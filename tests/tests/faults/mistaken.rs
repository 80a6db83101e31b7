//! A client of this process with a known mistake in its statements: the others are as they should be.

use tasklock_runtime::fault::{Faults, install};
use tasklock_tests::torment::replaced;

tokio::task_local! {
    static MISTAKE: &'static str;
}

struct Mistaken;

impl Faults for Mistaken {
    fn at(&self, _: &'static str) {}

    fn has(&self, _: &'static str) -> bool {
        false
    }

    fn statement(&self, sql: String) -> String {
        let mistake = MISTAKE.try_with(|mistake| *mistake).unwrap_or("");
        replaced(mistake, sql).0
    }
}

/// Statements that are made in this future have the mistake.
pub(crate) async fn with<F: Future>(mistake: &'static str, future: F) -> F::Output {
    install(&Mistaken);
    MISTAKE.scope(mistake, future).await
}
