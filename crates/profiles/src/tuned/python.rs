//! How Python sees texts, numbers, patterns and regular expressions: TuneD's profiles are written for it.

use regex_lite::{Regex, RegexBuilder};

/// White space, for `str.strip` and `str.isspace`.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}

/// Without white space at its ends.
pub(super) fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// A character of a name: `\w`.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// What `int(text, radix)` gives, as far as 64 bits go: white space, a sign, `0x` and `_` between digits are allowed.
pub(super) fn int(text: &str, radix: u32) -> Option<i64> {
    let text = strip(text);
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let digits = match radix {
        16 => match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            Some(digits) => digits.strip_prefix('_').unwrap_or(digits),
            None => digits,
        },
        _ => digits,
    };
    let is_parted = digits.split('_').all(|part| !part.is_empty() && part.chars().all(|c| c.is_digit(radix)));
    let value = is_parted.then(|| i64::from_str_radix(&digits.replace('_', ""), radix).ok()).flatten()?;
    Some(if negative { -value } else { value })
}

/// A regular expression of Python's, as far as ours go: there is no looking around and no reference back.
///
/// # Errors
/// What is not understood.
pub(super) fn regex(text: &str, multi_line: bool) -> Result<Regex, String> {
    // The end of the text has another letter here.
    let mut own = String::with_capacity(text.len());
    let mut escaped = false;
    for c in text.chars() {
        own.push(if escaped && c == 'Z' { 'z' } else { c });
        escaped = c == '\\' && !escaped;
    }
    RegexBuilder::new(&own)
        .multi_line(multi_line)
        .size_limit(1 << 20)
        .build()
        .map_err(|error| format!("/{text}/ is not understood: {error}"))
}

/// Whether a name is of a pattern with `*`, `?`, `[abc]`, `[a-z]` and `[!a]`: `fnmatch.fnmatchcase`.
pub(super) fn fnmatch(name: &str, pattern: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let pattern: Vec<char> = pattern.chars().collect();
    let (mut n, mut p) = (0, 0);
    // Where the last `*` stands and what it has taken: it takes one more whenever the rest does not go on.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&'*') {
            star = Some((p, n));
            p += 1;
        } else if let Some(length) = one(&pattern[p..], name[n]) {
            n += 1;
            p += length;
        } else if let Some((at, taken)) = star {
            star = Some((at, taken + 1));
            n = taken + 1;
            p = at + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

/// How much of the pattern is for one character, if it is of that.
fn one(pattern: &[char], c: char) -> Option<usize> {
    match pattern.first()? {
        '?' => Some(1),
        '[' => {
            let negated = pattern.get(1) == Some(&'!');
            let from = if negated { 2 } else { 1 };
            // A bracket that comes first is one of the set.
            let Some(end) = (from + 1..pattern.len()).find(|&at| pattern[at] == ']') else {
                return (c == '[').then_some(1);
            };
            let set = &pattern[from..end];
            let mut at = 0;
            let mut is_in = false;
            while at < set.len() {
                if set.get(at + 1) == Some(&'-') && at + 2 < set.len() {
                    is_in |= (set[at]..=set[at + 2]).contains(&c);
                    at += 3;
                } else {
                    is_in |= set[at] == c;
                    at += 1;
                }
            }
            (is_in != negated).then_some(end + 1)
        }
        &own => (own == c).then_some(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers() {
        for (text, radix, value) in [
            (" 12\n", 10, Some(12)),
            ("-3", 10, Some(-3)),
            ("+1_000", 10, Some(1000)),
            ("1__0", 10, None),
            ("_1", 10, None),
            ("", 10, None),
            ("-", 10, None),
            ("--1", 10, None),
            ("1 2", 10, None),
            ("0x10", 10, None),
            ("0xfF", 16, Some(255)),
            ("0x", 16, None),
            ("0x_f", 16, Some(15)),
            ("-0xf", 16, Some(-15)),
            ("99999999999999999999", 10, None),
        ] {
            assert_eq!(int(text, radix), value, "{text}");
        }
    }

    #[test]
    fn patterns() {
        for (pattern, name, is_of) in [
            ("*", "", true),
            ("sd*", "sda", true),
            ("sd?", "sd", false),
            ("a*b*c", "axbxbc", true),
            ("[!s]da", "hda", true),
            ("[!s]da", "sda", false),
            ("[a-c]1", "b1", true),
            ("[]x]", "]", true),
            ("[", "[", true),
            ("cpu[0-9]*", "cpufreq", false),
        ] {
            assert_eq!(fnmatch(name, pattern), is_of, "{pattern} {name}");
        }
    }

    #[test]
    fn expressions_are_understood_or_said_not_to_be() {
        let found = |text: &str, subject: &str| regex(text, true).map(|regex| regex.is_match(subject));
        assert_eq!(found("^b$", "a\nb"), Ok(true));
        assert_eq!(found("a\\Z", "a"), Ok(true));
        assert_eq!(found("\\\\Z", "\\Z"), Ok(true));
        assert!(found("(?=x)", "x").is_err());
    }

    proptest! {
        #[test]
        fn no_pattern_panics(pattern in "[a-c\\[\\]!*?-]{0,12}", name in "[a-c\\[\\]]{0,12}") {
            let _ = fnmatch(&name, &pattern);
            let _ = regex(&pattern, false);
            prop_assert!(fnmatch(&name, "*"));
        }
    }
}
