//! Which version of the keys is there.

use redis::{RedisResult, Value};

use super::RedisStore;
use super::answer::{maybe_number, several};
use super::args::Args;
use super::error::retried;
use crate::error::{StoreError, StoreErrorKind};
use crate::lease::OwnerToken;

/// The version of the keys that this binary writes, and the oldest that can work with them.
pub(super) const VERSION: i64 = 1;
pub(super) const OLDEST_COMPATIBLE: i64 = 1;

type Found = Option<(i64, i64)>;

impl RedisStore {
    pub(super) async fn migrated(&self) -> Result<(), StoreError> {
        let found = retried!(idempotent self, "migrate", self.migrate_once())?;
        self.check_version(found)
    }

    pub(super) async fn checked(&self) -> Result<(), StoreError> {
        let found = retried!(idempotent self, "read the keys' version", self.version_once())?;
        self.check_version(found)
    }

    async fn migrate_once(&self) -> RedisResult<Found> {
        let args = Args::default()
            .number(VERSION)
            .number(OLDEST_COMPATIBLE)
            .text(OwnerToken::fresh().as_str());
        found(self.run(&self.scripts.migrate, args).await?)
    }

    async fn version_once(&self) -> RedisResult<Found> {
        found(self.run(&self.scripts.version, Args::default()).await?)
    }

    fn check_version(&self, found: Found) -> Result<(), StoreError> {
        let message = match found {
            Some((_, oldest)) if oldest > VERSION => format!(
                "its keys need a binary that knows at least their version {oldest}; this one knows {VERSION}: \
                 deploy a newer build of this service"
            ),
            Some((version, _)) if version < VERSION => format!(
                "its keys are of version {version}, this binary needs {VERSION}: start one worker with \
                 `migrate(true)`"
            ),
            Some(_) => return Ok(()),
            None => {
                "its keys are missing: start one worker with `migrate(true)`, which writes them"
                    .to_owned()
            }
        };
        Err(StoreError {
            store: self.name.clone(),
            call: "use the keys",
            kind: StoreErrorKind::Schema,
            message,
        })
    }
}

fn found(answer: Value) -> RedisResult<Found> {
    let [version, oldest] = several(answer)?;
    Ok(maybe_number(&version)?.zip(maybe_number(&oldest)?))
}
