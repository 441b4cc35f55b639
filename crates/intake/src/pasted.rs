//! Text that passed through a mail program, a web page or a console before it became a file: what these add is taken
//! off, so that a reader sees the line that the program printed. Every reader of text uses this.
//!
//! ```text
//! bytes ─> quoted_printable ─> lines ─> printed() ──────────────────────────────> a reader's line
//!          =3D, =20, =EOL               entities:  &lt;idle&gt;-0                  │
//!                                       tags:      <br> at the end         │
//!                                       colours:   of a terminal           │
//!                                       escapes:   \_ of Markdown          │
//!                                       blanks:    non-breaking, of no width     ├─> wrapped: a line that was broken
//!                                       quotes:    "> > "                        │   in two, where the reader knows
//!                                       console:   "[   12.345678] ", syslog's   │   only the two together
//! ```

mod blanks;
mod colours;
mod comments;
mod console;
mod entities;
mod escapes;
mod left_out;
mod literals;
mod numbered;
mod quoted_printable;
mod quotes;
mod string_lines;
mod strings;
mod tags;
mod utf16;
mod wrapped;

pub(crate) use blanks::decoded;
pub(crate) use comments::{uncommented, uncommented_line, without_foreign_mark};
pub(crate) use left_out::leaves_out;
pub(crate) use literals::{Literals, literals};
pub(crate) use numbered::unnumbered;
pub(crate) use quoted_printable::{Decoded, is_quoted_printable};
pub(crate) use string_lines::{lines_of_string, string_lines};
pub(crate) use strings::texts_of_strings;
pub(crate) use utf16::Utf16;
pub(crate) use wrapped::{fits_a_break, fits_a_page, may_continue, may_continue_page, rejoined};

use memchr::memchr3;
use std::borrow::Cow;
use std::io::Read;

/// A line as the program printed it.
#[derive(Debug, PartialEq)]
pub(crate) struct Printed<'a> {
    /// Without blanks around it.
    pub(crate) text: Cow<'a, str>,
    /// How many characters it has without quotes' marks, with blanks at its end: by this a broken line shows.
    pub(crate) columns: usize,
    /// The time that the kernel, a console or a logger put before it.
    pub(crate) stamp: Option<String>,
    /// The machine that a logger put before it, if it is the kernel's.
    pub(crate) host: Option<String>,
}

/// The line without what others put around it.
pub(crate) fn printed(line: &str) -> Printed<'_> {
    if memchr3(b'&', b'\\', 0x1b, line.as_bytes()).is_none() {
        let Bare { text, columns, stamp, host } = bare(tags::removed(line));
        return Printed { text: Cow::Borrowed(text), columns, stamp, host };
    }
    let line = escapes::unquoted(colours::removed(entities::decoded(line)));
    match escapes::unescaped(without_tags(line)) {
        Cow::Borrowed(line) => {
            let Bare { text, columns, stamp, host } = bare(line);
            Printed { text: Cow::Borrowed(text), columns, stamp, host }
        }
        Cow::Owned(line) => {
            let Bare { text, columns, stamp, host } = bare(&line);
            Printed { text: Cow::Owned(text.to_owned()), columns, stamp, host }
        }
    }
}

fn without_tags(line: Cow<'_, str>) -> Cow<'_, str> {
    match line {
        Cow::Borrowed(line) => Cow::Borrowed(tags::removed(line)),
        Cow::Owned(line) => match tags::removed(&line) {
            bare if bare.len() == line.len() => Cow::Owned(line),
            bare => Cow::Owned(bare.to_owned()),
        },
    }
}

/// The same as [`Printed`], of a line that needs no more than its beginning and its end taken away.
struct Bare<'a> {
    text: &'a str,
    columns: usize,
    stamp: Option<String>,
    host: Option<String>,
}

/// Without marks and prefixes in any order, as a console's output is quoted and a quoted mail logged.
fn bare(line: &str) -> Bare<'_> {
    let mut text = quotes::unmarked(line);
    let (columns, mut stamp, mut host) = (text.len(), None, None);
    while let Some(rest) = console::without_prefix(text) {
        let prefix = text.strip_suffix(rest);
        stamp = prefix.and_then(console::time).or(stamp);
        host = prefix.and_then(console::host).or(host);
        text = quotes::unmarked(rest);
    }
    Bare { text: trimmed(text), columns, stamp: stamp.map(str::to_owned), host: host.map(str::to_owned) }
}

/// Without blanks around it, and without the zeros that a crash leaves behind.
fn trimmed(line: &str) -> &str {
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0 || *byte == 0x0b;
    let bytes = line.as_bytes();
    let start = bytes.iter().position(|byte| !is_blank(byte)).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|byte| !is_blank(byte)).map_or(start, |last| last + 1);
    line.get(start..end).unwrap_or(line)
}

/// So many lines at the beginning of a text show whether others put something around its lines.
const SHOWN_BY: usize = 1000;

/// A whole text as the program printed it, line by line; the same text where there is nothing to take off.
pub(crate) fn restored(bytes: &[u8]) -> Cow<'_, str> {
    if is_quoted_printable(bytes) {
        let mut decoded_bytes = Vec::new();
        // Reading from memory does not fail.
        if Decoded::new(bytes).read_to_end(&mut decoded_bytes).is_ok() {
            return Cow::Owned(lines_of(&decoded(&decoded_bytes).0));
        }
    }
    let (text, _) = decoded(bytes);
    let is_plain = |line: &str| matches!(&printed(line).text, Cow::Borrowed(bare) if *bare == trimmed(line));
    if text.lines().take(SHOWN_BY).all(is_plain) {
        return text;
    }
    Cow::Owned(lines_of(&text))
}

fn lines_of(text: &str) -> String {
    let mut all = String::with_capacity(text.len());
    for line in text.lines() {
        all.push_str(&printed(line).text);
        all.push('\n');
    }
    all
}

#[cfg(test)]
mod tests;
