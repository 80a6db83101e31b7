//! A client of this process with a known mistake in its statements: the others are as they should be. Scripts of all
//! of them record what they do.

use tasklock_runtime::fault::{Faults, install};
use tasklock_tests::torment::{recorded, replaced};

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
        recorded(replaced(mistake, sql).0)
    }
}

/// From now on the scripts of this process, too, record what they do.
pub(crate) fn record() {
    install(&Mistaken);
}

/// Statements that are made in this future have the mistake.
pub(crate) async fn with<F: Future>(mistake: &'static str, future: F) -> F::Output {
    record();
    MISTAKE.scope(mistake, future).await
}
