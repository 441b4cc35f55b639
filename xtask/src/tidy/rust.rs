//! Rust source as tokens, so that rules do not stumble over comments and string literals.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word: identifier, keyword or number.
    Word,
    /// A string literal; its text is what stands between the quotes.
    String,
    /// One character of punctuation.
    Mark,
}

/// A token, without comments, lifetimes and character literals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    /// Counted from 1.
    pub(super) line: usize,
}

impl Token<'_> {
    /// Whether this is the given word or punctuation mark (never a string of that content).
    pub(super) fn is(&self, text: &str) -> bool {
        self.kind != Kind::String && self.text == text
    }
}

/// The tokens of a source file.
pub(super) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut lexer = Lexer { source, at: 0, line: 1, tokens: Vec::new() };
    while lexer.step() {}
    lexer.tokens
}

/// The tokens that are not inside a `#[cfg(test)]` item.
pub(super) fn without_tests<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if starts_with(&tokens[at..], &["#", "[", "cfg", "(", "test", ")", "]"]) {
            at = item_end(tokens, at + 7);
        } else {
            kept.push(tokens[at]);
            at += 1;
        }
    }
    kept
}

/// Whether the tokens begin with these words and marks.
pub(super) fn starts_with(tokens: &[Token<'_>], pattern: &[&str]) -> bool {
    tokens.len() >= pattern.len() && tokens.iter().zip(pattern).all(|(token, text)| token.is(text))
}

/// One past the item at `start`: its semicolon, or the brace that closes its first one.
fn item_end(tokens: &[Token<'_>], start: usize) -> usize {
    let mut braces = 0usize;
    let mut inner = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match token.text {
            _ if token.kind != Kind::Mark => {}
            "{" => braces += 1,
            "}" if braces <= 1 => return at + 1,
            "}" => braces -= 1,
            "(" | "[" => inner += 1,
            ")" | "]" => inner = inner.saturating_sub(1),
            ";" if braces == 0 && inner == 0 => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
    line: usize,
    tokens: Vec<Token<'a>>,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    /// Moves on by `length` bytes, which must end at a character's border.
    fn skip(&mut self, length: usize) {
        let length = length.min(self.rest().len());
        self.line += self.rest()[..length].matches('\n').count();
        self.at += length;
    }

    /// Adds a token: `before` bytes, its text, `after` bytes.
    fn push(&mut self, kind: Kind, before: usize, length: usize, after: usize) {
        let rest = self.rest();
        let start = before.min(rest.len());
        let end = (start + length).min(rest.len());
        self.tokens.push(Token { kind, text: &rest[start..end], line: self.line });
        self.skip(end + after);
    }

    fn step(&mut self) -> bool {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return false };
        if first.is_whitespace() {
            self.skip(first.len_utf8());
        } else if rest.starts_with("//") {
            self.skip(rest.find('\n').unwrap_or(rest.len()));
        } else if rest.starts_with("/*") {
            self.skip(block_comment(rest));
        } else if let Some((before, length, after)) = string(rest) {
            self.push(Kind::String, before, length, after);
        } else if first == '\'' || rest.starts_with("b'") {
            self.skip(quote(rest));
        } else if first.is_alphanumeric() || first == '_' {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            self.push(Kind::Word, 0, length, 0);
        } else {
            self.push(Kind::Mark, 0, first.len_utf8(), 0);
        }
        true
    }
}

/// The length of a block comment; they nest.
fn block_comment(rest: &str) -> usize {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(pair) = rest.as_bytes().get(at..at + 2) {
        match pair {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

/// A string literal of any kind at the start: bytes before its content, of it, and after it.
fn string(rest: &str) -> Option<(usize, usize, usize)> {
    let prefix =
        ["br", "cr", "b", "c", "r"].into_iter().find(|prefix| rest.starts_with(prefix)).unwrap_or("");
    let after_prefix = &rest[prefix.len()..];
    if prefix.ends_with('r') {
        let hashes = after_prefix.len() - after_prefix.trim_start_matches('#').len();
        let content = after_prefix[hashes..].strip_prefix('"')?;
        let end = format!("\"{}", "#".repeat(hashes));
        let length = content.find(&end).unwrap_or(content.len());
        return Some((prefix.len() + hashes + 1, length, end.len()));
    }
    let content = after_prefix.strip_prefix('"')?;
    let mut escaped = false;
    let end = content.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    Some((prefix.len() + 1, end.unwrap_or(content.len()), 1))
}

/// The length of a character literal, or of a lifetime's quote.
fn quote(rest: &str) -> usize {
    let start = rest.find('\'').unwrap_or(0) + 1;
    let mut characters = rest[start..].chars();
    match characters.next() {
        Some('\\') => {
            // What is escaped may be a quote itself.
            let escaped = characters.next().map_or(0, char::len_utf8);
            let from = start + 1 + escaped;
            rest.get(from..).and_then(|tail| tail.find('\'')).map_or(rest.len(), |end| from + end + 1)
        }
        Some(character) if characters.next() == Some('\'') => start + character.len_utf8() + 1,
        _ => start,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> Vec<&str> {
        tokens(source).into_iter().filter(|token| token.kind == Kind::Word).map(|token| token.text).collect()
    }

    #[test]
    fn comments_strings_and_characters_hide_what_they_contain() {
        for (source, expected) in [
            ("a // hidden\nb", vec!["a", "b"]),
            ("a /* x /* y */ z */ b", vec!["a", "b"]),
            ("a \"hidden \\\" still\" b", vec!["a", "b"]),
            ("a r#\"hidden \" still\"# b", vec!["a", "b"]),
            ("a b\"hidden\" br##\"x\"# y\"## c", vec!["a", "c"]),
            ("a '\"' b '\\'' c '\\u{1F600}' d 'é' e b'x' f", vec!["a", "b", "c", "d", "e", "f"]),
            ("fn a<'life>(x: &'life str)", vec!["fn", "a", "life", "x", "life", "str"]),
            ("a /* open", vec!["a"]),
            ("a \"open", vec!["a"]),
            ("break_ r_x bx", vec!["break_", "r_x", "bx"]),
        ] {
            assert_eq!(words(source), expected, "{source}");
        }
    }

    #[test]
    fn a_token_knows_its_line_and_a_string_its_content() {
        let tokens = tokens("a\n\"two\nlines\" b\n  c");
        let seen: Vec<(&str, usize)> = tokens.iter().map(|token| (token.text, token.line)).collect();
        assert_eq!(seen, [("a", 1), ("two\nlines", 2), ("b", 3), ("c", 4)]);
    }

    #[test]
    fn test_items_are_left_out_whole() {
        for (source, expected) in [
            ("a #[cfg(test)] mod t { fn x() { y } } b", vec!["a", "b"]),
            ("a #[cfg(test)] mod t; b", vec!["a", "b"]),
            ("a #[cfg(test)] fn f(x: [u8; 2]) -> Y { z } b", vec!["a", "b"]),
            ("a #[cfg(not(test))] fn f() {}", vec!["a", "cfg", "not", "test", "fn", "f"]),
        ] {
            let all = tokens(source);
            let kept = without_tests(&all);
            let kept: Vec<&str> =
                kept.iter().filter(|token| token.kind == Kind::Word).map(|token| token.text).collect();
            assert_eq!(kept, expected, "{source}");
        }
    }

    #[test]
    fn no_cut_of_a_source_makes_the_lexer_panic() {
        let source = "b'\\'' r#\"é\"# /* é */ 'é' \"\\é\" c\"x\" '\\u{e9}' br\"";
        for (end, _) in source.char_indices() {
            for (start, _) in source[..end].char_indices() {
                tokens(&source[start..end]);
            }
        }
    }
}
