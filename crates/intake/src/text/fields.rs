//! Pieces of a line: words, numbers and `key=value` fields.

use whylate_base::{Ns, Priority, Tid};
use whylate_events::Symbol;

/// The text itself when it is all digits and there is one.
pub(crate) fn digits(text: &str) -> Option<&str> {
    (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then_some(text)
}

/// Splits off the last word; what is before it keeps its trailing blanks.
pub(crate) fn last_word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_end();
    let before = text.trim_end_matches(|c: char| !c.is_whitespace());
    let word = text.get(before.len()..).filter(|word| !word.is_empty())?;
    Some((before, word))
}

/// The first word, or nothing.
pub(crate) fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or("")
}

/// Where the value of the first `key=` begins that stands at the start or after a blank.
fn value_at(text: &str, key: &str) -> Option<usize> {
    text.match_indices(key).find_map(|(at, _)| begins_value(text, at, key))
}

fn begins_value(text: &str, at: usize, key: &str) -> Option<usize> {
    let starts = at == 0 || text.get(..at)?.ends_with(|c: char| c.is_whitespace() || c == '(');
    (starts && text.get(at + key.len()..)?.starts_with('=')).then_some(at + key.len() + 1)
}

/// The word behind the first `key=`.
pub(crate) fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.get(value_at(text, key)?..).map(first_word)
}

/// Everything behind the first `key=`, for a name that may hold blanks and ends the line.
pub(crate) fn tail<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.get(value_at(text, key)?..).map(str::trim)
}

/// The values of `keys`, which come in this order, the first at the start. The others are
/// searched from the right, so that a comm, which comes first, may hold anything, even ` pid=`.
pub(crate) fn from_right<'a, const N: usize>(text: &'a str, keys: [&str; N]) -> Option<[&'a str; N]> {
    let (first, others) = keys.split_first()?;
    let mut rest = text.strip_prefix(first)?.strip_prefix('=')?;
    let mut values = [""; N];
    for (key, value) in others.iter().zip(values.iter_mut().skip(1)).rev() {
        let (at, begin) =
            rest.rmatch_indices(key).find_map(|(at, _)| Some((at, begins_value(rest, at, key)?)))?;
        *value = rest.get(begin..)?.trim();
        rest = rest.get(..at)?;
    }
    *values.first_mut()? = rest.trim();
    Some(values)
}

/// A decimal or `0x` number at the start of a value; what follows a blank is another field's.
pub(crate) fn number<T: TryFrom<i128>>(value: &str) -> Option<T> {
    let word = first_word(value).trim_end_matches([',', ')', ']']);
    let (negative, word) = match word.strip_prefix('-') {
        Some(word) => (true, word),
        None => (false, word),
    };
    let magnitude = match word.strip_prefix("0x") {
        Some(hex) => i128::from(address(hex)?),
        None => digits(word)?.parse::<i128>().ok()?,
    };
    T::try_from(if negative { -magnitude } else { magnitude }).ok()
}

/// A kernel address: hexadecimal, with or without `0x`.
pub(crate) fn address(value: &str) -> Option<u64> {
    let word = first_word(value);
    let hex = word.strip_prefix("0x").unwrap_or(word).trim_end_matches([',', ')', ']']);
    (!hex.starts_with('+')).then(|| u64::from_str_radix(hex, 16).ok())?
}

/// A thread id.
pub(crate) fn tid(value: &str) -> Option<Tid> {
    number(value).map(Tid)
}

/// A kernel priority.
pub(crate) fn priority(value: &str) -> Option<Priority> {
    number(value).map(Priority)
}

/// Nanoseconds.
pub(crate) fn nanoseconds(value: &str) -> Option<Ns> {
    number(value).map(Ns)
}

/// A function's name without offset, size (`name+0x5/0x10`, `name/0x0`) or module;
/// empty where only an address is given.
pub(crate) fn symbol(value: &str) -> Symbol {
    let word = first_word(value);
    let name = word.split(['+', '/']).next().unwrap_or("");
    Symbol::from(if name.starts_with("0x") { "" } else { name })
}
