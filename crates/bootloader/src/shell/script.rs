//! Assignments, and where each character of their values is in the file.

use crate::edit::{Edit, edited};
use std::ops::Range;

/// The assignments of a file, in order.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) assignments: Vec<Assignment>,
    /// False where the file ended within quotes: it is not understood.
    pub(crate) whole: bool,
}

/// `NAME=value`.
#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    /// `NAME+=value`.
    pub(crate) appends: bool,
    /// Whether it depends on a condition, or on what is not understood, if it is made.
    pub(crate) conditional: bool,
    /// The value, expansions as they are written.
    pub(crate) value: String,
    /// The variables that are named in it.
    pub(crate) refers: Vec<String>,
    /// False where there are expansions in it.
    pub(crate) literal: bool,
    /// The whole assignment, and its value alone, in the file.
    pub(crate) span: Range<usize>,
    pub(super) value_span: Range<usize>,
    /// Of each byte of the value, where it is in the file.
    pub(super) sources: Vec<ByteSource>,
    /// Where the value ends in the file, within its last quotes.
    pub(super) end: (usize, Quotes),
}

/// Where a character of a value is in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ByteSource {
    pub(super) range: Range<usize>,
    /// The whole expansion that it is a character of.
    pub(super) whole: Range<usize>,
    pub(super) quotes: Quotes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotes {
    Bare,
    Single,
    Double,
}

impl Quotes {
    /// A text as it is written in these quotes.
    fn around(self, text: &str) -> String {
        let mut written = String::with_capacity(text.len());
        for c in text.chars() {
            match self {
                Quotes::Single if c == '\'' => written.push_str("'\\''"),
                Quotes::Double if matches!(c, '"' | '\\' | '$' | '`') => written.extend(['\\', c]),
                Quotes::Bare if !is_plain(c) => written.extend(['\\', c]),
                _ => written.push(c),
            }
        }
        written
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_.,:=/+@%^-".contains(c)
}

/// A value as a word of the shell.
pub(crate) fn quoted(value: &str) -> String {
    match value.chars().all(is_plain) && !value.is_empty() {
        true => value.to_owned(),
        false => format!("\"{}\"", Quotes::Double.around(value)),
    }
}

impl Assignment {
    /// The edits of a file that make these of the value. `None` where one of them crosses quotes.
    pub(crate) fn in_file(&self, edits: &[Edit]) -> Option<Vec<Edit>> {
        let bare = self.literal && self.sources.iter().all(|source| source.quotes == Quotes::Bare);
        if bare && self.end.1 == Quotes::Bare && edits.iter().any(|edit| !edit.text.chars().all(is_plain)) {
            let value = edited(&self.value, edits);
            return Some(vec![Edit { range: self.value_span.clone(), text: quoted(&value) }]);
        }
        edits.iter().map(|edit| self.one_in_file(edit)).collect()
    }

    fn one_in_file(&self, edit: &Edit) -> Option<Edit> {
        let at = edit.range.start;
        let (range, quotes) = match self.within(edit.range.clone())? {
            Some(found) => found,
            None if at == self.sources.len() => (self.end.0..self.end.0, self.end.1),
            None if at == 0 => {
                self.sources.first().map(|first| (first.range.start..first.range.start, first.quotes))?
            }
            None => {
                let before = &self.sources[at - 1];
                (before.whole.end..before.whole.end, before.quotes)
            }
        };
        Some(Edit { range, text: quotes.around(&edit.text) })
    }

    /// Where a part of the value is in the file, if it is in one piece there: of expansions that reach out of it,
    /// nothing is taken. `Some(None)`: it is no part at all.
    fn within(&self, range: Range<usize>) -> Option<Option<(Range<usize>, Quotes)>> {
        let mut sources = self.sources.get(range)?;
        while let [first, rest @ ..] = sources
            && first.whole.start < first.range.start
        {
            sources = rest;
        }
        while let [rest @ .., last] = sources
            && last.range.end < last.whole.end
        {
            sources = rest;
        }
        let (Some(first), Some(last)) = (sources.first(), sources.last()) else { return Some(None) };
        let follows =
            |two: &[ByteSource]| two[0].range == two[1].range || two[0].range.end == two[1].range.start;
        let in_one =
            sources.iter().all(|source| source.quotes == first.quotes) && sources.windows(2).all(follows);
        in_one.then_some(Some((first.range.start..last.range.end, first.quotes)))
    }

    /// The edit that gives the whole variable another value.
    pub(crate) fn set(&self, value: &str) -> Edit {
        Edit { range: self.value_span.clone(), text: quoted(value) }
    }
}

impl Assignment {
    pub(super) fn push(&mut self, c: char, range: Range<usize>, quotes: Quotes) {
        self.value.push(c);
        self.sources.resize(self.value.len(), ByteSource { range: range.clone(), whole: range, quotes });
    }
}
