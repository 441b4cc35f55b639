//! A text whose line ends are escaped, as in JSON and in the source of a program: `"...\n  app-7 [000] ...\n..."`.

use memchr::{memchr, memmem};

/// The lines of the string in a line, if one of those behind its first end is as `is_of_it` asks: a program's own message may have
/// an escaped line end as well.
pub(crate) fn lines_of_string(line: &str, is_of_it: impl Fn(&str) -> bool) -> Option<Vec<String>> {
    // Hardly a line has a backslash: to look for one needs no preparation.
    let at = memchr(b'\\', line.as_bytes())?;
    memmem::find(line.as_bytes().get(at..)?, b"\\n")?;
    let lines = unescaped(line, true);
    lines.iter().skip(1).any(|line| is_of_it(line)).then_some(lines)
}

/// The lines of a string without its quotes.
pub(crate) fn string_lines(text: &str) -> Vec<String> {
    unescaped(text, false)
}

/// The lines of `line`; where it `has_quotes`, of the string that holds the first escaped line end, or of which `line` is a part.
fn unescaped(line: &str, has_quotes: bool) -> Vec<String> {
    let (mut lines, mut text) = (Vec::new(), String::new());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            // The string that has no line end in it is another one.
            '"' if has_quotes && lines.is_empty() => text.clear(),
            '"' if has_quotes => break,
            '\\' => match characters.next() {
                Some('n') => lines.push(std::mem::take(&mut text)),
                Some('t') => text.push('\t'),
                Some('r') | None => {}
                Some('u') => text.push(code_point(characters.by_ref().take(4)).unwrap_or('\u{fffd}')),
                Some(escaped) => text.push(escaped),
            },
            _ => text.push(character),
        }
    }
    lines.push(text);
    lines
}

/// `003c`: `<`, which web servers escape.
fn code_point(digits: impl Iterator<Item = char>) -> Option<char> {
    let mut code = 0;
    for digit in digits {
        code = code * 16 + digit.to_digit(16)?;
    }
    char::from_u32(code)
}

#[cfg(test)]
mod tests {
    use super::lines_of_string;

    #[test]
    fn a_string_with_escaped_line_ends_has_lines() {
        let is_row = |line: &str| line.trim_start().starts_with("app-7");
        let rows = |line: &str| lines_of_string(line, is_row);
        let json = r#"{"name": "a", "trace": "\u003cidle\u003e-0 x\n\tapp-7 \"q\" c:\\n\r\n", "b": "c\nd"}"#;
        assert_eq!(rows(json), Some(["<idle>-0 x", "\tapp-7 \"q\" c:\\n", ""].map(str::to_owned).to_vec()));
        assert_eq!(rows(r"=0 next_prio=120\napp-7 z").map(|lines| lines.len()), Some(2));
        assert_eq!(rows(r"app-7 tracing_mark_write: one\ntwo"), None);
        assert_eq!(rows(r"app-7 tracing_mark_write: c:\new"), None);
        assert_eq!(rows("app-7"), None);
    }
}
