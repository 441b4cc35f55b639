//! Pieces of a line: words, numbers and `key=value` fields.
//!
//! Every line passes here several times, so bytes are looked at rather than characters: blanks and
//! the signs between fields are ASCII, which no character of several bytes contains.

use memchr::{memchr_iter, memrchr};
use whylate_base::{Cpu, Ns, Priority, Tid};
use whylate_events::{Symbol, symbol_in_module};

/// The text itself when it is all digits and there is one.
pub(crate) fn digits(text: &str) -> Option<&str> {
    (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then_some(text)
}

/// A decimal number of digits alone.
pub(crate) fn decimal(text: &str) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.bytes().try_fold(0u64, |sum, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 { None } else { sum.checked_mul(10)?.checked_add(u64::from(digit)) }
    })
}

/// A decimal number with up to nine places behind the point, in billionths.
pub(crate) fn billionths(text: &str) -> Option<i64> {
    let point = text.bytes().position(|byte| byte == b'.').unwrap_or(text.len());
    let whole = decimal(text.get(..point)?)?.checked_mul(1_000_000_000)?;
    let places = match text.get(point + 1..) {
        Some(places) if places.len() <= 9 => {
            decimal(places)?.checked_mul(10u64.pow(9 - places.len() as u32))?
        }
        Some(_) => return None,
        None => 0,
    };
    i64::try_from(whole.checked_add(places)?).ok()
}

fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace()
}

/// `150`, `150.250`, in units of so many nanoseconds.
pub(crate) fn thousandths(number: &str, unit: i64) -> Option<Ns> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let whole: i64 = digits(whole)?.parse().ok()?;
    let fraction = format!("{:0<3.3}", digits(fraction)?).parse::<i64>().ok()?;
    Some(Ns(whole.checked_mul(unit)?.checked_add(fraction * (unit / 1_000))?))
}

/// Without blanks at its end.
pub(crate) fn trim_end(text: &str) -> &str {
    let end = text.bytes().rposition(|byte| !is_blank(byte)).map_or(0, |at| at + 1);
    text.get(..end).unwrap_or(text)
}

/// Without blanks at its start.
pub(crate) fn trim_start(text: &str) -> &str {
    let start = text.bytes().position(|byte| !is_blank(byte)).unwrap_or(text.len());
    text.get(start..).unwrap_or(text)
}

/// Without blanks around it.
pub(crate) fn trim(text: &str) -> &str {
    trim_end(trim_start(text))
}

/// Splits at the first `byte`, an ASCII sign: what is sought is near.
pub(crate) fn split(text: &str, byte: u8) -> Option<(&str, &str)> {
    let at = text.bytes().position(|other| other == byte)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// Splits at the last `byte`.
pub(crate) fn rsplit(text: &str, byte: u8) -> Option<(&str, &str)> {
    let at = text.bytes().rposition(|other| other == byte)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// What may stand behind the last value of a row: the signs of the program, mail or page that quotes it. A dot is none of
/// them, as `12...` is a row that was cut.
const BEHIND_A_VALUE: &[u8] = b",;:)]}'\"`|";

/// Without the signs `ends` at its end.
fn without_end<'a>(text: &'a str, ends: &[u8]) -> &'a str {
    let end = text.bytes().rposition(|byte| !ends.contains(&byte)).map_or(0, |at| at + 1);
    text.get(..end).unwrap_or(text)
}

/// Where `sign` stands with a blank on both sides; it begins with `first`.
pub(crate) fn signs<'a>(text: &'a str, sign: &'a str) -> impl Iterator<Item = usize> + 'a {
    let bytes = text.as_bytes();
    let first = sign.as_bytes().first().copied().unwrap_or(b' ');
    memchr_iter(first, bytes).filter(move |&at| {
        let is_blank = |at: usize| bytes.get(at) == Some(&b' ');
        at > 0
            && is_blank(at - 1)
            && is_blank(at + sign.len())
            && bytes.get(at..).is_some_and(|rest| rest.starts_with(sign.as_bytes()))
    })
}

/// Splits off the last word; what is before it keeps its trailing blanks.
pub(crate) fn last_word(text: &str) -> Option<(&str, &str)> {
    let text = trim_end(text);
    let start = text.bytes().rposition(is_blank).map_or(0, |at| at + 1);
    let word = text.get(start..).filter(|word| !word.is_empty())?;
    Some((text.get(..start)?, word))
}

/// The first word, or nothing.
pub(crate) fn first_word(text: &str) -> &str {
    let text = trim_start(text);
    let end = text.bytes().position(is_blank).unwrap_or(text.len());
    text.get(..end).unwrap_or(text)
}

/// True where the `=` at `equals` ends a `key=` that stands at the start or after a blank.
fn ends_key(text: &[u8], equals: usize, key: &str) -> bool {
    let Some(before) = text.get(..equals).and_then(|before| before.strip_suffix(key.as_bytes())) else {
        return false;
    };
    before.last().is_none_or(|&byte| is_blank(byte) || byte == b'(')
}

/// Where the value of the first `key=` begins.
fn value_at(text: &str, key: &str) -> Option<usize> {
    memchr_iter(b'=', text.as_bytes()).find(|&equals| ends_key(text.as_bytes(), equals, key)).map(|at| at + 1)
}

/// The word behind the first `key=`.
pub(crate) fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.get(value_at(text, key)?..).map(first_word)
}

/// Everything behind the first `key=`, for a name that may hold blanks and ends the line.
pub(crate) fn tail<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.get(value_at(text, key)?..).map(trim)
}

/// The word behind the first `key=` or `key:`, as formats without keys of their own print them.
pub(crate) fn labelled<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    field(text, key)
        .or_else(|| text.split_ascii_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix(':')))
}

/// The values of `keys`, which come in this order, the first at the start. The others are
/// searched from the right, so that a comm, which comes first, may hold anything, even ` pid=`.
pub(crate) fn from_right<'a, const N: usize>(text: &'a str, keys: [&str; N]) -> Option<[&'a str; N]> {
    let (first, others) = keys.split_first()?;
    let mut rest = text.strip_prefix(first)?.strip_prefix('=')?;
    let mut values = [""; N];
    for (key, value) in others.iter().zip(values.iter_mut().skip(1)).rev() {
        let mut end = rest.len();
        let equals = loop {
            end = memrchr(b'=', rest.as_bytes().get(..end)?)?;
            if ends_key(rest.as_bytes(), end, key) {
                break end;
            }
        };
        *value = trim(rest.get(equals + 1..)?);
        rest = rest.get(..equals - key.len())?;
    }
    *values.first_mut()? = trim(rest);
    Some(values)
}

/// A decimal or `0x` number at the start of a value; what follows a blank is another field's.
pub(crate) fn number<T: TryFrom<i128>>(value: &str) -> Option<T> {
    let word = without_end(first_word(value), BEHIND_A_VALUE);
    let (negative, word) = match word.strip_prefix('-') {
        Some(word) => (true, word),
        None => (false, word),
    };
    let magnitude = i128::from(match word.strip_prefix("0x") {
        Some(hex) => address(hex)?,
        None => decimal(word)?,
    });
    T::try_from(if negative { -magnitude } else { magnitude }).ok()
}

/// A kernel address: hexadecimal, with or without `0x`.
pub(crate) fn address(value: &str) -> Option<u64> {
    let word = without_end(first_word(value), BEHIND_A_VALUE);
    let hex = word.strip_prefix("0x").unwrap_or(word);
    if hex.is_empty() || hex.len() > 16 {
        return None;
    }
    hex.bytes().try_fold(0u64, |sum, byte| {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            _ => return None,
        };
        Some(sum << 4 | u64::from(digit))
    })
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

/// Microseconds with up to six places, as function_graph and rtla print them: `12.345`.
pub(crate) fn microseconds(value: &str) -> Option<Ns> {
    billionths(value).map(|billionths| Ns(billionths / 1_000_000))
}

/// `comm-pid`
pub(crate) fn comm_pid(text: &str) -> Option<(&str, Tid)> {
    let (comm, pid) = rsplit(text, b'-')?;
    Some((comm, Tid(i32::try_from(decimal(pid)?).ok()?)))
}

/// A function's name without offset, size (`name+0x5/0x10`, `name/0x0`) or arguments, and with the module that is given
/// behind it; empty where only an address is given.
pub(crate) fn symbol(value: &str) -> Symbol {
    let name = function(value);
    let behind = value.trim_start().split_once([' ', '\t']).map_or("", |(_, behind)| first_word(behind));
    match behind.strip_prefix('[').and_then(|behind| behind.strip_suffix(']')) {
        Some(module) if !name.is_empty() => symbol_in_module(name.as_bytes(), module.as_bytes()),
        _ => Symbol::from(name),
    }
}

fn function(value: &str) -> &str {
    let word = first_word(value);
    let end = word.bytes().position(|byte| matches!(byte, b'+' | b'/' | b'(' | b'<')).unwrap_or(word.len());
    let name = word.get(..end).unwrap_or("");
    let is_address = name.starts_with("0x") || name.starts_with(|first: char| first.is_ascii_digit());
    if is_address { "" } else { name }
}

/// No machine the kernel supports has a higher CPU number (`CONFIG_NR_CPUS` ends at 8192);
/// tables by CPU must not grow with a number out of a damaged line.
pub(crate) fn cpu_from(text: &str) -> Option<Cpu> {
    let cpu = u32::try_from(decimal(text)?).ok()?;
    (cpu < 8192).then_some(Cpu(cpu))
}

/// The CPU in a field of an event: bare, or in brackets.
pub(crate) fn cpu(value: &str) -> Option<Cpu> {
    cpu_from(without_end(first_word(value), BEHIND_A_VALUE).trim_start_matches('['))
}

/// Seconds with up to nine decimals (`44501.327174`), or a bare count of the clock.
pub(crate) fn clock_time(text: &str) -> Option<Ns> {
    match split(text, b'.') {
        Some(_) => billionths(text).map(Ns),
        None => i64::try_from(decimal(text)?).ok().map(Ns),
    }
}
