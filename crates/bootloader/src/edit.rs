//! Edits of a text that leave every other byte as it is.

use std::ops::Range;

/// A piece of text that replaces another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

/// A text with edits made, which are in order and do not overlap.
pub(crate) fn edited(text: &str, edits: &[Edit]) -> String {
    let (mut made, mut done) = (String::with_capacity(text.len()), 0);
    for edit in edits {
        made.push_str(&text[done..edit.range.start]);
        made.push_str(&edit.text);
        done = edit.range.end;
    }
    made.push_str(&text[done..]);
    made
}
