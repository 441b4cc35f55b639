//! Characters that HTML spells out: `&lt;idle&gt;-0`, `=&gt;`, `&#39;`.

use memchr::memchr;
use std::borrow::Cow;

/// A page that shows a page spells the ampersands out again.
const MOST_LAYERS: usize = 3;
/// Longer names are none of those that a trace needs.
const LONGEST: usize = 8;

pub(super) fn decoded(line: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(line);
    for _ in 0..MOST_LAYERS {
        match once(&text) {
            Some(next) => text = Cow::Owned(next),
            None => break,
        }
    }
    text
}

/// `None` where nothing is spelled out.
fn once(line: &str) -> Option<String> {
    let mut found: Option<String> = None;
    let (mut done, mut from) = (0, 0);
    while let Some(at) = memchr(b'&', line.as_bytes().get(from..)?).map(|at| from + at) {
        from = at + 1;
        let rest = line.get(from..)?;
        let Some(end) = rest.bytes().take(LONGEST + 1).position(|byte| byte == b';') else { continue };
        let Some(character) = rest.get(..end).and_then(character) else { continue };
        let text = found.get_or_insert_default();
        text.push_str(line.get(done..at)?);
        text.push(character);
        (done, from) = (from + end + 1, from + end + 1);
    }
    let mut text = found?;
    text.push_str(line.get(done..)?);
    Some(text)
}

fn character(name: &str) -> Option<char> {
    match name {
        "lt" => return Some('<'),
        "gt" => return Some('>'),
        "amp" => return Some('&'),
        "quot" => return Some('"'),
        "apos" => return Some('\''),
        "nbsp" => return Some(' '),
        _ => {}
    }
    let number = name.strip_prefix('#')?;
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => number.parse(),
    };
    let character = char::from_u32(code.ok()?).filter(|c| !c.is_control())?;
    Some(if character.is_whitespace() { ' ' } else { character })
}
