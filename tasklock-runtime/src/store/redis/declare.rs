//! What a start makes of the standing jobs, and how they are looked after: one try.
//!
//! The rule is Rust (`declaring.rs`), the rows are in Redis: a script reads a row, another writes what the rule makes of it if it
//! is still as it was read. Whoever starts at the same time, or claims it just then, makes the second one fail, and it is looked
//! at anew.

use redis::{ErrorKind, RedisError, RedisResult};

use super::answer::{list, number, text, texts};
use super::args::Args;
use super::rows::Fields;
use super::{OLDEST_COMPATIBLE, RedisStore, VERSION};
use crate::lease::OwnerToken;
use crate::store::Declaration;
use crate::store::columns::follows_columns;
use crate::store::declaring::{ALIAS_AGAIN, ALIAS_LASTS, RENAMED, RENAMINGS, Standing, first};
use crate::store::pauses::TRIES;

impl RedisStore {
    pub(super) async fn declare_once(&self, declarations: &[Declaration]) -> RedisResult<bool> {
        let mut is_late = false;
        for declared in declarations {
            is_late |= !self.declare_one(declared).await?;
        }
        Ok(!is_late)
    }

    async fn declare_one(&self, declared: &Declaration) -> RedisResult<bool> {
        for _ in 0..TRIES {
            let args = Args::default()
                .text(&declared.task)
                .span(ALIAS_LASTS)
                .number(RENAMED)
                .flag(declared.standing)
                .texts(declared.aliases.iter().map(String::as_str));
            let found = list(self.run(&self.scripts.declaring, args).await?)?;
            let [elsewhere, now, rest @ ..] = &found[..] else {
                return Ok(true);
            };
            if number(elsewhere)? == 1 || !declared.standing {
                return Ok(true);
            }
            let now = number(now)?;
            let written = match rest {
                [id, fields, seen] => {
                    let row = Fields::of(number(id)?, fields.clone())?;
                    let found = row.standing();
                    if found.is_late(declared, now) {
                        return Ok(false);
                    }
                    match found.declared(declared, now) {
                        Some(new) => self.redeclare(row.id, &text(seen)?, &new).await?,
                        None => return Ok(true),
                    }
                }
                _ => self.declare_new(declared, now).await?,
            };
            if written {
                return Ok(true);
            }
        }
        Err(RedisError::from((
            ErrorKind::Client,
            "a standing job was changed each time it was looked at",
        )))
    }

    async fn declare_new(&self, declared: &Declaration, now: i64) -> RedisResult<bool> {
        let (slot, due) = first(declared, now);
        let args = Args::default()
            .text(&declared.task)
            .maybe_text(Some(&declared.schedule))
            .maybe(due)
            .maybe_text(declared.resource.as_deref())
            .maybe(slot)
            .maybe_text(declared.version.as_deref());
        Ok(number(&self.run(&self.scripts.declare, args).await?)? == 1)
    }

    async fn redeclare(&self, id: i64, seen: &str, new: &Standing) -> RedisResult<bool> {
        let (next_at, next_in) = follows_columns(new.follows);
        let args = Args::default()
            .number(id)
            .text(seen)
            .maybe_text(new.schedule.as_deref())
            .maybe_text(new.resource.as_deref())
            .maybe(new.due_at)
            .maybe(new.slot_at)
            .maybe(next_at)
            .maybe(next_in)
            .maybe_text(new.versions.as_deref())
            .flag(new.parked)
            .flag(new.again)
            .flag(new.moved);
        Ok(number(&self.run(&self.scripts.redeclare, args).await?)? == 1)
    }

    pub(super) async fn tend_once(&self, declarations: &[Declaration]) -> RedisResult<Vec<String>> {
        for declared in declarations.iter().filter(|d| !d.aliases.is_empty()) {
            let args = Args::default()
                .text(&declared.task)
                .span(ALIAS_LASTS)
                .span(ALIAS_AGAIN)
                .number(RENAMED)
                .texts(declared.aliases.iter().map(String::as_str));
            for _ in 0..RENAMINGS {
                let more = self.run(&self.scripts.tend, args.clone()).await?;
                if number(&more)? == 0 {
                    break;
                }
            }
        }
        let standing = declarations.iter().filter(|declared| declared.standing);
        let args = Args::default()
            .number(VERSION)
            .number(OLDEST_COMPATIBLE)
            .text(OwnerToken::fresh().as_str())
            .texts(standing.map(|declared| &*declared.task));
        texts(self.run(&self.scripts.missing, args).await?)
    }
}
