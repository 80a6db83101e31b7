//! What scripts are given: texts, one after the other. A number that is not known is an empty one; a text that may be missing has a sign before it
//! if it is not.

use std::time::Duration;

use crate::lease::LeaseKey;
use crate::store::columns::{Columns, due_at, due_in, goes_away, progress_columns};
use crate::store::{Acquire, ClaimRequest, Finish, NewJob, Renewal, announced};
use crate::task::micros;

/// A script's arguments.
#[derive(Debug, Default, Clone)]
pub(super) struct Args(Vec<Vec<u8>>);

impl Args {
    pub(super) fn text(mut self, text: &str) -> Self {
        self.push(text);
        self
    }

    pub(super) fn number(mut self, number: impl Into<i64>) -> Self {
        self.push(&number.into().to_string());
        self
    }

    pub(super) fn size(mut self, size: usize) -> Self {
        self.push(&size.to_string());
        self
    }

    pub(super) fn flag(self, flag: bool) -> Self {
        self.text(if flag { "1" } else { "0" })
    }

    pub(super) fn maybe(self, number: Option<impl Into<i64>>) -> Self {
        match number {
            Some(number) => self.number(number),
            None => self.text(""),
        }
    }

    pub(super) fn maybe_text(self, text: Option<&str>) -> Self {
        match text {
            Some(text) => self.text(&format!("={text}")),
            None => self.text(""),
        }
    }

    pub(super) fn span(self, span: Duration) -> Self {
        self.number(micros(span))
    }

    pub(super) fn texts<'a>(self, texts: impl IntoIterator<Item = &'a str>) -> Self {
        texts.into_iter().fold(self, Self::text)
    }

    pub(super) fn numbers(self, numbers: &[i64]) -> Self {
        numbers.iter().copied().fold(self, Self::number)
    }

    pub(super) fn key(self, key: &LeaseKey) -> Self {
        self.number(key.job)
            .number(key.fence)
            .text(key.owner.as_str())
    }

    pub(super) fn keys(self, keys: &[LeaseKey]) -> Self {
        keys.iter().fold(self, Self::key)
    }

    pub(super) fn claim(request: &ClaimRequest) -> Self {
        let saying = request.tell.map(announced::looked).unwrap_or_default();
        let args = Self::default()
            .text(request.token.as_str())
            .text(&request.worker)
            .size(request.limit)
            .size(request.suspects)
            .flag(request.sweep)
            .flag(request.quick)
            .text(&saying);
        request.tasks.iter().fold(args, |args, wanted| {
            args.text(&wanted.task)
                .text(&wanted.queue)
                .span(wanted.ttl)
                .maybe(wanted.most)
                .number(wanted.suspect_from)
        })
    }

    pub(super) fn end(self, end: &Finish) -> Self {
        let columns = Columns::of(end);
        self.key(&end.key)
            .maybe(columns.next_at)
            .maybe(columns.next_in)
            .text(end.outcome)
            .maybe_text(end.error.as_deref())
            .text(columns.state)
            .number(columns.counts)
            .maybe(columns.keep)
            .maybe(columns.hold)
            .maybe(columns.slot_at)
            .number(columns.missed)
            .number(columns.skipped)
            .maybe(columns.told_at)
            .maybe(columns.told_in)
            .flag(goes_away(end))
    }

    pub(super) fn job(self, job: &NewJob) -> Self {
        self.text(&job.task)
            .maybe_text(job.payload.as_deref())
            .number(job.priority)
            .maybe_text(job.unique_key.as_deref())
            .maybe(due_at(job.due))
            .maybe(due_in(job.due))
            .maybe_text(job.resource.as_deref())
    }

    pub(super) fn acquire(self, wanted: &Acquire) -> Self {
        let ticket = wanted.ticket.as_ref();
        self.text(&wanted.name)
            .text(wanted.owner.as_str())
            .text(&wanted.worker)
            .span(wanted.ttl)
            .maybe_text(ticket.map(crate::lease::OwnerToken::as_str))
    }

    pub(super) fn renewal(self, renewal: &Renewal) -> Self {
        let (done, total) = progress_columns(renewal.progress);
        self.key(&renewal.key)
            .span(renewal.ttl)
            .maybe(done)
            .maybe(total)
    }

    pub(super) fn all(&self) -> &[Vec<u8>] {
        &self.0
    }

    fn push(&mut self, text: &str) {
        self.0.push(text.as_bytes().to_vec());
    }
}
