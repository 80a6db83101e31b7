//! A handler's own transactions, committed under its lease.

use super::context::LeaseContext;
use super::guard::{Anchor, CommitError, GuardedTransaction};
use super::lost::LeaseLost;

impl LeaseContext {
    /// Commits the application's own transaction, if and only if the lease is still held: the check and
    /// the commit are one. Of this database only, and with the lease's row unchanged since the claim,
    /// whatever pause there was. Keep it the transaction's last step: from the check to the commit
    /// takeover waits for it, and on SQLite so does every other writer.
    ///
    /// Works at READ COMMITTED, REPEATABLE READ and SERIALIZABLE on Postgres, MariaDB and MySQL; on these two
    /// only what is in InnoDB's tables is part of it. On SQLite begin the
    /// transaction with `BEGIN IMMEDIATE` (`pool.begin_with("BEGIN IMMEDIATE")`): a deferred one works
    /// too, but answers [`Retry`](CommitError::Retry) where another writer came between. After any error
    /// of a statement in it give the transaction up: on SQLite, MariaDB and MySQL it may be over by then (a
    /// deadlock ends it), and what follows is committed unguarded. On MariaDB and MySQL a statement that changes a
    /// table's definition commits what was before it, unguarded too.
    ///
    /// It must be the outermost transaction: of a nested one `Ok` means that its savepoint was released,
    /// and no more. What is promised on which store, and what shows it, stands in the repository's
    /// `GUARANTEES.md`.
    ///
    /// # Errors
    ///
    /// See [`CommitError`]. In every case but [`Unknown`](CommitError::Unknown) nothing was committed.
    pub async fn commit(&self, tx: impl GuardedTransaction) -> Result<(), CommitError> {
        self.commit_under(tx, false, &|| self.check()).await
    }

    /// Like [`commit`](Self::commit), and marks the job as succeeded in the same transaction: its effects
    /// and its end are one, **exactly once** in this database. Make it the last thing that the handler
    /// does: the lease ends with it, so that the next run may start at once, beside what is left of this
    /// one; and an error that the handler returns afterwards is logged, but not recorded any more.
    ///
    /// # Errors
    ///
    /// See [`CommitError`]. Where COMMIT itself fails, the lease is lost by then: after
    /// [`Unknown`](CommitError::Unknown) the job may be done, and where it is not it runs again.
    pub async fn complete_in(&self, tx: impl GuardedTransaction) -> Result<(), CommitError> {
        let completion = &self.parts().completion;
        completion.begin();
        // Whoever still has this context must see the lease lost before anybody else can claim.
        let last = || {
            self.parts()
                .status
                .seal()
                .map(|_deadline| completion.seal())
                .ok_or_else(|| self.reason())
        };
        let done = self.commit_under(tx, true, &last).await;
        completion.settle(done.is_ok());
        done
    }

    async fn commit_under(
        &self,
        tx: impl GuardedTransaction,
        complete: bool,
        last: &(dyn Fn() -> Result<(), LeaseLost> + Sync),
    ) -> Result<(), CommitError> {
        if let Err(lost) = self.check() {
            tx.give_up().await;
            return Err(CommitError::Lost(lost));
        }
        let anchors: Vec<&Anchor> = self
            .parts()
            .anchors
            .iter()
            .map(|anchor| &**anchor)
            .collect();
        let committed = tx.commit_under(&anchors, complete, last).await;
        match (committed, self.check()) {
            // A snapshot that cannot lock the row any more says "again" where another owner has it.
            (Err(CommitError::Retry(_)), Err(lost)) => Err(CommitError::Lost(lost)),
            (Err(CommitError::Lost(_)), _) => Err(CommitError::Lost(
                self.parts().status.lose(LeaseLost::TakenOver),
            )),
            (committed, _) => committed,
        }
    }

    fn reason(&self) -> LeaseLost {
        self.check().err().unwrap_or(LeaseLost::Expired)
    }
}
