//! A piece of the text that knows where it stands.

use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part<'a> {
    pub(super) text: &'a str,
    start: usize,
}

impl<'a> Part<'a> {
    pub(super) fn whole(text: &'a str) -> Self {
        Self { text, start: 0 }
    }

    /// The bytes of the whole text that this is.
    pub(super) fn range(self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// From the start of this to the end of a later one.
    pub(super) fn range_to(self, last: Part<'_>) -> Range<usize> {
        self.start..last.range().end
    }

    /// What stands between white space.
    pub(super) fn words(self) -> impl Iterator<Item = Part<'a>> {
        self.text
            .split_whitespace()
            .map(move |word| self.inner(word))
    }

    pub(super) fn split(self, at: char) -> impl Iterator<Item = Part<'a>> {
        self.text.split(at).map(move |piece| self.inner(piece))
    }

    pub(super) fn split_once(self, at: char) -> Option<(Part<'a>, Part<'a>)> {
        let (left, right) = self.text.split_once(at)?;
        Some((self.inner(left), self.inner(right)))
    }

    /// Without a letter, of either case, at its end.
    pub(super) fn without_last(self, letter: char) -> Option<Part<'a>> {
        let last = self.text.chars().next_back()?;
        let rest = &self.text[..self.text.len() - last.len_utf8()];
        last.eq_ignore_ascii_case(&letter).then(|| self.inner(rest))
    }

    pub(super) fn is(self, text: &str) -> bool {
        self.text.eq_ignore_ascii_case(text)
    }

    pub(super) fn is_empty(self) -> bool {
        self.text.is_empty()
    }

    /// `piece` is a slice of this one's text.
    fn inner(self, piece: &'a str) -> Part<'a> {
        let before = piece.as_ptr().addr() - self.text.as_ptr().addr();
        Part {
            text: piece,
            start: self.start + before,
        }
    }
}
