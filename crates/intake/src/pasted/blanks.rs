//! Bytes to characters, where blanks are the blanks that programs print.

use std::borrow::Cow;

/// The text, and whether all of it was UTF-8.
///
/// Web pages keep columns apart by non-breaking blanks, and mails of one-byte character sets have those as `0xa0`.
/// Blanks of every kind become the ordinary one, and characters of no width are left out.
pub(crate) fn decoded(bytes: &[u8]) -> (Cow<'_, str>, bool) {
    let (text, is_utf8) = match std::str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(text), true),
        Err(_) => (Cow::Owned(lossy(bytes)), false),
    };
    match !text.is_ascii() && text.contains(is_strange) {
        true => {
            let kept = text.chars().filter(|c| !has_no_width(*c));
            (Cow::Owned(kept.map(|c| if is_strange(c) { ' ' } else { c }).collect()), is_utf8)
        }
        false => (text, is_utf8),
    }
}

fn lossy(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            let is_blank = chunk.invalid().iter().all(|byte| *byte == 0xa0);
            text.push(if is_blank { ' ' } else { char::REPLACEMENT_CHARACTER });
        }
    }
    text
}

fn is_strange(c: char) -> bool {
    !c.is_ascii() && (c.is_whitespace() || has_no_width(c))
}

fn has_no_width(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}
