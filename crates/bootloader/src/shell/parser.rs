//! Reads shell syntax as far as assignments go; dash(1) defines it.

use super::script::{Assignment, Quotes, Script};

/// The assignments in a text.
pub(crate) fn parse(text: &str) -> Script {
    let mut parser = Parser { text, at: 0, inside: Vec::new(), unclear: false };
    let mut made = Vec::new();
    let whole = parser.commands(&mut made).is_some();
    Script { assignments: made, whole }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// What is open around the command: `(`, `if`, `case` ...
    inside: Vec<&'static str>,
    /// Something was met after which nothing is sure (a here-document).
    unclear: bool,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn takes(&mut self, what: &str) -> bool {
        let there = self.text[self.at..].starts_with(what);
        self.at += if there { what.len() } else { 0 };
        there
    }

    /// All commands; `None` where the text ends within quotes.
    fn commands(&mut self, made: &mut Vec<Assignment>) -> Option<()> {
        // Assignments that are the shell's own only if no command follows them.
        let mut pending: Vec<Assignment> = Vec::new();
        let (mut in_command, mut maybe) = (false, false);
        loop {
            if self.takes("\\\n") {
                continue;
            }
            let Some(c) = self.peek() else { break };
            match c {
                ' ' | '\t' | '\r' => self.at += 1,
                '#' => self.at = self.text[self.at..].find('\n').map_or(self.text.len(), |end| self.at + end),
                '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' => {
                    self.operator(&mut maybe);
                    if !matches!(c, '<' | '>') {
                        made.append(&mut pending);
                        in_command = false;
                    }
                }
                _ => {
                    let word = self.word()?;
                    let keyword = if in_command { None } else { self.keyword(&self.text[word.span.clone()]) };
                    match (word.name.is_empty(), keyword) {
                        _ if in_command => {}
                        (true, Some(())) => {}
                        (true, None) => {
                            in_command = true;
                            pending.clear();
                        }
                        (false, _) => {
                            let conditional = maybe || self.unclear || !self.inside.is_empty();
                            pending.push(Assignment { conditional, ..word });
                        }
                    }
                }
            }
        }
        made.append(&mut pending);
        Some(())
    }

    fn operator(&mut self, maybe: &mut bool) {
        if self.takes("&&") || self.takes("||") {
            *maybe = true;
        } else if self.takes("<<") {
            self.unclear = true;
        } else {
            match self.next() {
                Some('\n' | ';') => *maybe = false,
                Some('|' | '&') => *maybe = true,
                Some('(') => self.inside.push("("),
                // One without the other ends a pattern of `case`.
                Some(')') if self.inside.last() == Some(&"(") => {
                    self.inside.pop();
                }
                _ => {}
            }
        }
    }

    /// Notes what a word opens or closes; `Some` where a command may follow it.
    fn keyword(&mut self, word: &str) -> Option<()> {
        match word {
            "if" => self.inside.push("if"),
            "while" | "until" => self.inside.push("do"),
            "for" => {
                self.inside.push("do");
                return None;
            }
            "case" => {
                self.inside.push("case");
                return None;
            }
            "{" => self.inside.push("{"),
            "fi" | "done" | "esac" | "}" => {
                self.inside.pop();
            }
            "then" | "else" | "elif" | "do" | "!" | "export" | "readonly" | "declare" | "typeset" => {}
            _ => return None,
        }
        Some(())
    }

    /// A word; of an assignment with its name.
    fn word(&mut self) -> Option<Assignment> {
        let start = self.at;
        let rest = &self.text[start..];
        let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let appends = rest[length..].starts_with("+=");
        let named = length > 0
            && !rest.starts_with(|c: char| c.is_ascii_digit())
            && (appends || rest[length..].starts_with('='));
        let name = if named { rest[..length].to_owned() } else { String::new() };
        if named {
            self.at += length + if appends { 2 } else { 1 };
        }
        let value_start = self.at;
        let mut word = Assignment {
            name,
            appends,
            conditional: false,
            value: String::new(),
            refers: Vec::new(),
            literal: true,
            span: start..start,
            value_span: value_start..value_start,
            sources: Vec::new(),
            end: (value_start, Quotes::Bare),
        };
        while let Some(c) = self.peek() {
            let before = self.at;
            match c {
                ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' => break,
                '\'' => {
                    self.at += 1;
                    while self.peek()? != '\'' {
                        self.literal(&mut word, Quotes::Single);
                    }
                    word.end = (self.at, Quotes::Single);
                    self.at += 1;
                    continue;
                }
                '"' => {
                    self.at += 1;
                    while self.peek()? != '"' {
                        self.in_double(&mut word)?;
                    }
                    word.end = (self.at, Quotes::Double);
                    self.at += 1;
                    continue;
                }
                '\\' => {
                    self.at += 1;
                    match self.next() {
                        Some('\n') => {}
                        Some(c) => word.push(c, before..self.at, Quotes::Bare),
                        None => word.push('\\', before..self.at, Quotes::Bare),
                    }
                }
                '$' | '`' => self.expansion(&mut word, Quotes::Bare)?,
                _ => self.literal(&mut word, Quotes::Bare),
            }
            word.end = (self.at, Quotes::Bare);
        }
        word.value_span.end = self.at;
        word.span.end = self.at;
        Some(word)
    }

    fn literal(&mut self, word: &mut Assignment, quotes: Quotes) {
        let start = self.at;
        if let Some(c) = self.next() {
            word.push(c, start..self.at, quotes);
        }
    }

    fn in_double(&mut self, word: &mut Assignment) -> Option<()> {
        let start = self.at;
        match self.peek()? {
            '$' | '`' => self.expansion(word, Quotes::Double)?,
            '\\' if !self.takes("\\\n") => {
                self.at += 1;
                match self.peek()? {
                    c @ ('$' | '`' | '"' | '\\') => {
                        self.at += 1;
                        word.push(c, start..self.at, Quotes::Double);
                    }
                    _ => word.push('\\', start..self.at, Quotes::Double),
                }
            }
            '\\' => {}
            _ => self.literal(word, Quotes::Double),
        }
        Some(())
    }

    /// `$NAME`, `${...}`, `$(...)`, or a command in backquotes.
    fn expansion(&mut self, word: &mut Assignment, quotes: Quotes) -> Option<()> {
        let start = self.at;
        let opened = self.next();
        match (opened, self.peek()) {
            (Some('`'), _) => while self.next()? != '`' {},
            (_, Some('{')) => self.closed('{', '}')?,
            (_, Some('(')) => self.closed('(', ')')?,
            (_, Some(c)) if c.is_ascii_alphabetic() || c == '_' => {
                let rest = &self.text[self.at..];
                let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
                self.at += end.unwrap_or(rest.len());
            }
            (_, Some(c)) if c.is_ascii_digit() || "@*#?$!-".contains(c) => self.at += 1,
            _ => {
                word.push('$', start..self.at, quotes);
                return Some(());
            }
        }
        word.literal = false;
        let written = &self.text[start..self.at];
        let named = written.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        word.refers.extend(named.filter(|name| !name.is_empty()).map(str::to_owned));
        let blank_first =
            [":+ ", ":- "].iter().any(|op| written.trim_start_matches(is_name_or_open).starts_with(op));
        let blank_last = written.ends_with(" }");
        for (at, c) in written.char_indices() {
            let shown = match c {
                _ if (blank_first && at == 0) || (blank_last && at + 1 == written.len()) => ' ',
                c if c.is_whitespace() || c == '"' => '_',
                c => c,
            };
            word.push(shown, start + at..start + at + c.len_utf8(), quotes);
            let first = word.value.len() - shown.len_utf8();
            word.sources[first..].iter_mut().for_each(|source| source.whole = start..self.at);
        }
        Some(())
    }

    /// Past the bracket that closes the one that is next.
    fn closed(&mut self, open: char, close: char) -> Option<()> {
        let mut depth = 0;
        loop {
            match self.next()? {
                '\\' => {
                    self.next()?;
                }
                '\'' => while self.next()? != '\'' {},
                c if c == open => depth += 1,
                c if c == close => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(());
                    }
                }
                _ => {}
            }
        }
    }
}

fn is_name_or_open(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_${".contains(c)
}
