//! The syntax that sets of CPUs and conditions share: names and lists, joined by operators, in parentheses.
//!
//! ```text
//! level N = level N+1 {OPERATOR level N+1}       from left to right; the operators of level 0 bind least
//! primary = "not" primary | "(" level 0 ")" | LIST | NAME
//!         | "siblings(" level 0 ")" | "node(" LIST ")" | ("first" | "last") "(" [NUMBER "of"] level 0 ")"
//! ```

use super::error::Mistake;
use whylate_base::CpuSet;

/// Words with a meaning of their own, which no variable may have as its name.
pub(super) const WORDS: &[&str] = &[
    "all", "online", "cores", "none", "not", "of", "siblings", "node", "first", "last", "each", "and", "or",
];

/// A parser that calls itself must have an end; so must evaluation, and dropping.
const DEEPEST: usize = 64;

/// What an operator joins two parts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// One of them: the union of two sets.
    Or,
    /// Both of them: the intersection of two sets.
    And,
    /// The first one without the second.
    Minus,
}

/// What is applied to the set in parentheses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Siblings,
    Node,
    /// So many of the first.
    First(usize),
    /// So many of the last.
    Last(usize),
}

/// A text of this syntax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expression {
    List(CpuSet),
    Name(String),
    Not(Box<Expression>),
    Joined(Operator, Box<Expression>, Box<Expression>),
    Call(Function, Box<Expression>),
}

/// What a kind of text is made of.
pub(super) struct Language {
    /// What it is called in errors.
    pub(super) subject: &'static str,
    /// How one is written, for errors.
    pub(super) example: fn() -> String,
    /// The operators, those that bind least first.
    pub(super) levels: &'static [&'static [(&'static str, Operator)]],
    /// No text is longer, in bytes.
    pub(super) longest: usize,
}

impl Language {
    /// The text as an expression.
    pub(super) fn parse(&self, text: &str) -> Result<Expression, Mistake> {
        if text.len() > self.longest {
            return Err(self.mistake(format!("this is too long for a {}", self.subject)));
        }
        let mut parser = Parser { language: self, tokens: self.tokens(text)?, at: 0, depth: 0 };
        let whole = parser.level(0)?;
        match parser.next() {
            None => Ok(whole),
            Some(more) => Err(self.mistake(format!("`{}` is unexpected in `{text}`", more.text()))),
        }
    }

    pub(super) fn mistake(&self, what: impl Into<String>) -> Mistake {
        Mistake::new(what, (self.example)())
    }

    /// A `-` within a number's or a name's characters belongs to it: `2-3`, `no-balance`; with blanks it takes away.
    fn tokens(&self, text: &str) -> Result<Vec<Token>, Mistake> {
        let mut tokens = Vec::new();
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let end = |belongs: fn(char) -> bool| rest.find(|c| !belongs(c)).unwrap_or(rest.len());
            let length = match first {
                '0'..='9' => {
                    // A comma or a sign at the end joins what follows, and is none of the list's.
                    let length = end(|c| c.is_ascii_digit() || c == ',' || c == '-');
                    rest[..length].trim_end_matches([',', '-']).len()
                }
                'a'..='z' | 'A'..='Z' | '_' => end(is_of_name),
                '+' | '-' | '&' | ',' | '(' | ')' => 1,
                other => return Err(self.mistake(format!("`{other}` is not part of a {}", self.subject))),
            };
            let word = rest[..length].to_owned();
            tokens.push(match first {
                '0'..='9' => Token::List(word),
                _ => Token::Word(word),
            });
            rest = rest[length..].trim_start();
        }
        Ok(tokens)
    }
}

/// Characters of a variable's name, after the first letter.
pub(super) fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// Numbers of CPUs.
    List(String),
    /// A name, or a sign.
    Word(String),
}

impl Token {
    fn text(&self) -> &str {
        match self {
            Token::List(text) | Token::Word(text) => text,
        }
    }
}

struct Parser<'a> {
    language: &'a Language,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn next(&mut self) -> Option<Token> {
        self.at += 1;
        self.tokens.get(self.at - 1).cloned()
    }

    fn takes(&mut self, word: &str) -> bool {
        let is_next = matches!(self.tokens.get(self.at), Some(Token::Word(own)) if own == word);
        self.at += usize::from(is_next);
        is_next
    }

    fn level(&mut self, level: usize) -> Result<Expression, Mistake> {
        let language = self.language;
        let Some(operators) = language.levels.get(level) else { return self.primary() };
        let mut left = self.level(level + 1)?;
        while let Some((_, operator)) = operators.iter().find(|(word, _)| self.takes(word)) {
            let right = self.level(level + 1)?;
            left = Expression::Joined(*operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn primary(&mut self) -> Result<Expression, Mistake> {
        self.depth += 1;
        let (language, subject) = (self.language, self.language.subject);
        if self.depth > DEEPEST {
            return Err(language.mistake(format!("this {subject} has too many parts")));
        }
        let name = match self.next() {
            Some(Token::List(list)) => return Ok(Expression::List(self.numbers(&list)?)),
            Some(Token::Word(word)) => word,
            None => return Err(language.mistake(format!("a {subject} is missing at the end"))),
        };
        Ok(match name.as_str() {
            "not" => Expression::Not(Box::new(self.primary()?)),
            "(" => {
                let inner = self.level(0)?;
                self.close()?;
                inner
            }
            "siblings" => self.call(&name, |_| Ok(Function::Siblings))?,
            "node" => self.call(&name, |_| Ok(Function::Node))?,
            "first" => self.call(&name, |parser| Ok(Function::First(parser.count()?)))?,
            "last" => self.call(&name, |parser| Ok(Function::Last(parser.count()?)))?,
            "of" | "each" | "and" | "or" | "+" | "-" | "&" | "," | ")" => {
                return Err(language.mistake(format!("a {subject} is missing before `{name}`")));
            }
            _ => Expression::Name(name),
        })
    }

    fn call(
        &mut self,
        name: &str,
        function: impl FnOnce(&mut Self) -> Result<Function, Mistake>,
    ) -> Result<Expression, Mistake> {
        if !self.takes("(") {
            return Err(self.language.mistake(format!("`{name}` is not followed by `(`")));
        }
        let function = function(self)?;
        let inner = self.level(0)?;
        self.close()?;
        Ok(Expression::Call(function, Box::new(inner)))
    }

    fn close(&mut self) -> Result<(), Mistake> {
        match self.takes(")") {
            true => Ok(()),
            false => Err(self.language.mistake("a `)` is missing")),
        }
    }

    /// `2 of`, or nothing: one.
    fn count(&mut self) -> Result<usize, Mistake> {
        let of = matches!(self.tokens.get(self.at + 1), Some(Token::Word(word)) if word == "of");
        let Some(Token::List(number)) = self.tokens.get(self.at).filter(|_| of) else { return Ok(1) };
        let count = number.parse().map_err(|_| {
            Mistake::new(format!("`{number}` is not a number of CPUs"), "write it like `first(2 of cores)`")
        })?;
        self.at += 2;
        Ok(count)
    }

    fn numbers(&self, list: &str) -> Result<CpuSet, Mistake> {
        let mistake = |_| Mistake::new(format!("`{list}` is not a list of numbers"), "write it like 0-3,8");
        list.parse().map_err(mistake)
    }
}
