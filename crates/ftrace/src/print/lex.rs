//! The words of a `print fmt` line: it is C, as the kernel's build left it.

/// A word of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    Name(&'t str),
    /// A number or character, and whether a suffix or its size makes it unsigned or 64 bits wide.
    Number {
        value: u64,
        unsigned: bool,
        long: bool,
    },
    /// A string, escapes resolved; strings that stand next to each other are one.
    Text(Vec<u8>),
    /// An operator or bracket, as long as C makes it.
    Op(&'static str),
}

/// The longest first, so that `<<` is not two `<`.
const OPERATORS: [&str; 35] = [
    "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "(", ")", "{", "}", "[", "]", ",", "?", ":", "+",
    "-", "*", "/", "%", "<", ">", "&", "|", "^", "~", "!", ".", ";", "=", "#", "@",
];

/// Splits the line; the error is a byte that C does not know, or a string without its end.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, String> {
    let mut tokens: Vec<Token<'_>> = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '"' => {
                let (more, length) = quoted(rest, b'"')?;
                rest = rest[length..].trim_start();
                match tokens.last_mut() {
                    Some(Token::Text(text)) => text.extend(more),
                    _ => tokens.push(Token::Text(more)),
                }
                continue;
            }
            '\'' => {
                let (bytes, length) = quoted(rest, b'\'')?;
                let value = bytes.first().map_or(0, |&byte| i64::from(byte as i8) as u64);
                (Token::Number { value, unsigned: false, long: false }, length)
            }
            '0'..='9' => number(rest)?,
            'a'..='z' | 'A'..='Z' | '_' => {
                let length =
                    rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
                (Token::Name(&rest[..length]), length)
            }
            _ => {
                let operator = OPERATORS.iter().find(|operator| rest.starts_with(**operator));
                let operator = operator.ok_or_else(|| format!("`{first}` is not known"))?;
                (Token::Op(operator), operator.len())
            }
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

/// A number with its suffix.
fn number(text: &str) -> Result<(Token<'_>, usize), String> {
    let length = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    let word = &text[..length];
    let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
    let suffix = &word[digits.len()..];
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits, 10),
    };
    let value = u64::from_str_radix(digits, radix).map_err(|_| format!("`{word}` is no number"))?;
    let long =
        suffix.contains(['l', 'L']) || value > u64::from(u32::MAX) || (radix == 10 && value >> 31 != 0);
    let unsigned = suffix.contains(['u', 'U'])
        || value > i64::MAX as u64
        || (radix != 10 && !long && value > i32::MAX as u64);
    Ok((Token::Number { value, unsigned, long }, length))
}

/// The bytes between two quotes, and how long it all is.
fn quoted(text: &str, quote: u8) -> Result<(Vec<u8>, usize), String> {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::new(), 1);
    loop {
        let &byte = bytes.get(at).ok_or("a string has no end")?;
        at += 1;
        match byte {
            _ if byte == quote => return Ok((out, at)),
            b'\\' => {
                let &escaped = bytes.get(at).ok_or("a string has no end")?;
                at += 1;
                out.push(match escaped {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'0'..=b'7' => {
                        let mut value = u32::from(escaped - b'0');
                        while let Some(&digit @ b'0'..=b'7') = bytes.get(at)
                            && value < 32
                        {
                            value = value * 8 + u32::from(digit - b'0');
                            at += 1;
                        }
                        value as u8
                    }
                    b'x' => {
                        let mut value = 0u32;
                        while let Some(digit) = bytes.get(at).and_then(|&b| (b as char).to_digit(16))
                            && value < 16
                        {
                            value = value * 16 + digit;
                            at += 1;
                        }
                        value as u8
                    }
                    other => other,
                });
            }
            _ => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: u64, unsigned: bool, long: bool) -> Token<'static> {
        Token::Number { value, unsigned, long }
    }

    #[test]
    fn words_of_every_kind() {
        let line = r#""a\t%d\n" "b\"\x41\101", REC->x >>= 0x80000000, 'R' 017 1ULL"#;
        let expected = vec![
            Token::Text(b"a\t%d\nb\"AA".to_vec()),
            Token::Op(","),
            Token::Name("REC"),
            Token::Op("->"),
            Token::Name("x"),
            Token::Op(">>"),
            Token::Op("="),
            number(0x8000_0000, true, false),
            Token::Op(","),
            number(82, false, false),
            number(15, false, false),
            number(1, true, true),
        ];
        assert_eq!(tokens(line).as_ref(), Ok(&expected));
    }

    #[test]
    fn what_is_no_c() {
        for line in ["\"open", "\"\\", "0xg", "9z", "99999999999999999999", "$", "'"] {
            assert!(tokens(line).is_err(), "{line}");
        }
    }
}
