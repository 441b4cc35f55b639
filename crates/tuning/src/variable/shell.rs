//! The assignments in a file of shell syntax (/etc/default/grub, /etc/default/irqbalance), each with the place of
//! every character of its value, so that one word of it can be changed and no other byte.
//!
//! Nothing is run. What an expansion (`$NAME`, `$(command)`) would give is not known; in a value it stands as it
//! is written, blanks and quotes in it as `_`, and where it begins or ends with a blank (`${NAME:+$NAME }`) with one. An assignment that may not be made (in an `if`, behind `&&`) is
//! marked. What the shell makes of quotes: dash(1), sections "Quoting" and "Word Expansions".

use crate::boot::line::Edit;
use std::ops::Range;

/// The assignments of a file, in order.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) assignments: Vec<Assignment>,
    /// False where the file ended within quotes: it is not understood.
    pub(crate) whole: bool,
}

/// `NAME=value`.
#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    /// `NAME+=value`.
    pub(crate) appends: bool,
    /// Whether it depends on a condition, or on what is not understood, if it is made.
    pub(crate) conditional: bool,
    /// The value, expansions as they are written.
    pub(crate) value: String,
    /// The variables that are named in it.
    pub(crate) refers: Vec<String>,
    /// False where there are expansions in it.
    pub(crate) literal: bool,
    /// The whole assignment, and its value alone, in the file.
    pub(crate) span: Range<usize>,
    value_span: Range<usize>,
    /// Of each byte of the value, where it is in the file.
    places: Vec<Place>,
    /// Where the value ends in the file, within its last quotes.
    end: (usize, Quotes),
}

/// Where a character of a value is in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    range: Range<usize>,
    /// The whole expansion that it is a character of.
    whole: Range<usize>,
    quotes: Quotes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quotes {
    Bare,
    Single,
    Double,
}

impl Quotes {
    /// A text as it is written in these quotes.
    fn around(self, text: &str) -> String {
        let mut written = String::with_capacity(text.len());
        for c in text.chars() {
            match self {
                Quotes::Single if c == '\'' => written.push_str("'\\''"),
                Quotes::Double if matches!(c, '"' | '\\' | '$' | '`') => written.extend(['\\', c]),
                Quotes::Bare if !is_plain(c) => written.extend(['\\', c]),
                _ => written.push(c),
            }
        }
        written
    }
}

fn is_name_or_open(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_${".contains(c)
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_.,:=/+@%^-".contains(c)
}

/// A value as a word of the shell.
pub(crate) fn quoted(value: &str) -> String {
    match value.chars().all(is_plain) && !value.is_empty() {
        true => value.to_owned(),
        false => format!("\"{}\"", Quotes::Double.around(value)),
    }
}

impl Assignment {
    /// The edits of a file that make these of the value. `None` where one of them crosses quotes.
    pub(crate) fn in_file(&self, edits: &[Edit]) -> Option<Vec<Edit>> {
        let bare = self.literal && self.places.iter().all(|place| place.quotes == Quotes::Bare);
        if bare && self.end.1 == Quotes::Bare && edits.iter().any(|edit| !edit.text.chars().all(is_plain)) {
            let value = crate::boot::line::edited(&self.value, edits);
            return Some(vec![Edit { range: self.value_span.clone(), text: quoted(&value) }]);
        }
        edits.iter().map(|edit| self.one_in_file(edit)).collect()
    }

    fn one_in_file(&self, edit: &Edit) -> Option<Edit> {
        let at = edit.range.start;
        let (range, quotes) = match self.within(edit.range.clone())? {
            Some(found) => found,
            None if at == self.places.len() => (self.end.0..self.end.0, self.end.1),
            None if at == 0 => {
                self.places.first().map(|first| (first.range.start..first.range.start, first.quotes))?
            }
            None => {
                let before = &self.places[at - 1];
                (before.whole.end..before.whole.end, before.quotes)
            }
        };
        Some(Edit { range, text: quotes.around(&edit.text) })
    }

    /// Where a part of the value is in the file, if it is in one piece there: of expansions that reach out of it,
    /// nothing is taken. `Some(None)`: it is no part at all.
    fn within(&self, range: Range<usize>) -> Option<Option<(Range<usize>, Quotes)>> {
        let mut places = self.places.get(range)?;
        while let [first, rest @ ..] = places
            && first.whole.start < first.range.start
        {
            places = rest;
        }
        while let [rest @ .., last] = places
            && last.range.end < last.whole.end
        {
            places = rest;
        }
        let (Some(first), Some(last)) = (places.first(), places.last()) else { return Some(None) };
        let follows = |two: &[Place]| two[0].range == two[1].range || two[0].range.end == two[1].range.start;
        let in_one =
            places.iter().all(|place| place.quotes == first.quotes) && places.windows(2).all(follows);
        in_one.then_some(Some((first.range.start..last.range.end, first.quotes)))
    }

    /// The edit that gives the whole variable another value.
    pub(crate) fn set(&self, value: &str) -> Edit {
        Edit { range: self.value_span.clone(), text: quoted(value) }
    }
}

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
            places: Vec::new(),
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
            word.places[first..].iter_mut().for_each(|place| place.whole = start..self.at);
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

impl Assignment {
    fn push(&mut self, c: char, place: Range<usize>, quotes: Quotes) {
        self.value.push(c);
        self.places.resize(self.value.len(), Place { range: place.clone(), whole: place, quotes });
    }
}

#[cfg(test)]
mod tests;
