//! Characters that Markdown escapes: `rt\_prio`, `\<idle\>-0`, where its source is pasted instead of the page. And lines
//! that are strings of a program's source: in a script of a page (`...\n\`), in a notebook (`"...\n",`).

use memchr::memchr;
use std::borrow::Cow;

/// Those that mean something in Markdown and that traces print. The headers' drawings have blanks behind their strokes.
const ESCAPED: &[u8] = b"_*<>[]#";

/// How a line ends that is a string, or a part of one.
const ENDS: [&str; 5] = ["\\n\\", "\\n\",", "\\n\"", "\\n',", "\\n'"];

/// The line without what makes it a string.
pub(super) fn unquoted(line: Cow<'_, str>) -> Cow<'_, str> {
    let text = line.trim_end();
    let Some((end, inside)) = ENDS.iter().find_map(|end| Some((end, text.strip_suffix(end)?))) else {
        return line;
    };
    let quote = end.chars().find(|c| matches!(c, '"' | '\''));
    let inside = quote.and_then(|quote| inside.trim_start().strip_prefix(quote)).unwrap_or(inside);
    Cow::Owned(inside.replace("\\t", "\t").replace("\\\"", "\""))
}

pub(super) fn unescaped(line: Cow<'_, str>) -> Cow<'_, str> {
    let is_escape = |pair: &[u8]| pair[0] == b'\\' && ESCAPED.contains(&pair[1]);
    // Where Markdown is escaped, every underscore is. A marker's text may have any backslashes, and stands behind a name
    // with underscores.
    let is_bare = |pair: &[u8]| pair[1] == b'_' && pair[0] != b'\\';
    let mut pairs = line.as_bytes().windows(2);
    if memchr(b'\\', line.as_bytes()).is_none() || !pairs.clone().any(is_escape) || pairs.any(is_bare) {
        return line;
    }
    let mut text = String::with_capacity(line.len());
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        // A backslash that is escaped itself, as in JSON, escapes nothing.
        if character == '\\' && characters.next_if_eq(&'\\').is_some() {
            text.push_str("\\\\");
            continue;
        }
        let is_escaped = |next: &char| u8::try_from(*next).is_ok_and(|next| ESCAPED.contains(&next));
        match characters.next_if(|next| character == '\\' && is_escaped(next)) {
            Some(next) => text.push(next),
            None => text.push(character),
        }
    }
    Cow::Owned(text)
}
