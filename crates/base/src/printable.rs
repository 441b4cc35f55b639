//! Text from outside, made harmless to show.

/// Stands for what is not shown.
const REPLACEMENT: &str = "\u{fffd}";

/// True for characters that must not reach a terminal or a page: a terminal obeys control characters, and bidirectional
/// overrides reorder a line.
pub fn is_unprintable(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text with U+FFFD for each character that is [unprintable](is_unprintable), the ends of lines included.
pub fn printable(text: &str) -> String {
    text.replace(is_unprintable, REPLACEMENT)
}

/// The same for a message: ends of lines and tabs stay.
pub fn printable_lines(text: &str) -> String {
    text.replace(|c: char| is_unprintable(c) && !matches!(c, '\n' | '\t'), REPLACEMENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_replaced() {
        for (text, line, lines) in [
            ("rt-app µs", "rt-app µs", "rt-app µs"),
            ("\u{1b}[31mred", "\u{fffd}[31mred", "\u{fffd}[31mred"),
            ("a\u{9b}2Jb\u{202e}c\r", "a\u{fffd}2Jb\u{fffd}c\u{fffd}", "a\u{fffd}2Jb\u{fffd}c\u{fffd}"),
            ("one\n\ttwo", "one\u{fffd}\u{fffd}two", "one\n\ttwo"),
        ] {
            assert_eq!((printable(text).as_str(), printable_lines(text).as_str()), (line, lines));
        }
    }
}
