//! Sets of CPUs in words: `2-3`, `all - isolated`, `siblings(2) & node(0)`.
//!
//! ```text
//! set   = both {("+" | "-") both}        union, difference; from left to right
//! both  = list {"&" list}                intersection
//! list  = plain {"," plain}              union, of what belongs together
//! plain = "not" plain | "(" set ")" | "0-3,8" | "all" | "online" | "cores" | "none" | VARIABLE
//!       | "siblings(" set ")" | "node(" numbers ")" | ("first" | "last") "(" [number "of"] set ")"
//! ```

use super::error::Mistake;
use super::topology::Topology;
use crate::plan::without;
use whylate_base::CpuSet;

/// Words with a meaning of their own, which no variable may have as its name.
pub(super) const WORDS: &[&str] = &[
    "all", "online", "cores", "none", "not", "of", "siblings", "node", "first", "last", "each", "and", "or",
];

const POSSIBLE: &str = "a set of CPUs is written like `2-3`, `all - isolated`, `siblings(2)`, `node(0) & online`, \
                        `first(2 of cores)` or `not 0`";

/// Longer texts, and deeper ones, nobody writes; a parser that calls itself must have an end.
const LONGEST: usize = 4096;
const DEEPEST: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expression {
    List(CpuSet),
    Name(String),
    Not(Box<Expression>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    Minus(Box<Expression>, Box<Expression>),
    Siblings(Box<Expression>),
    Node(CpuSet),
    First(usize, Box<Expression>),
    Last(usize, Box<Expression>),
}

/// What a name stands for.
pub(super) trait Names {
    /// The CPUs of a variable.
    fn cpus(&mut self, name: &str) -> Result<CpuSet, Mistake>;
}

impl Expression {
    pub(super) fn parse(text: &str) -> Result<Expression, Mistake> {
        if text.len() > LONGEST {
            return Err(Mistake::new("this is too long for a set of CPUs", POSSIBLE));
        }
        let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0 };
        let set = parser.set()?;
        match parser.next() {
            None => Ok(set),
            Some(more) => {
                Err(Mistake::new(format!("`{}` is one too many in `{text}`", more.show()), POSSIBLE))
            }
        }
    }

    pub(super) fn cpus(&self, machine: Topology<'_>, names: &mut dyn Names) -> Result<CpuSet, Mistake> {
        let mut of = |inner: &Expression| inner.cpus(machine, names);
        Ok(match self {
            Expression::List(list) => {
                let all = machine.all()?;
                if let Some(cpu) = list.iter().find(|&cpu| !all.contains(cpu)) {
                    return Err(Mistake::new(
                        format!("there is no CPU {cpu}"),
                        format!("this machine has {all}"),
                    ));
                }
                list.clone()
            }
            Expression::Name(name) => match name.as_str() {
                "all" => machine.all()?,
                "online" => machine.online()?,
                "cores" => machine.cores()?,
                "none" => CpuSet::new(),
                _ => names.cpus(name)?,
            },
            Expression::Not(inner) => without(&machine.all()?, &of(inner)?),
            Expression::And(a, b) => {
                let (a, b) = (of(a)?, of(b)?);
                a.iter().filter(|&cpu| b.contains(cpu)).collect()
            }
            Expression::Or(a, b) => of(a)?.iter().chain(of(b)?.iter()).collect(),
            Expression::Minus(a, b) => without(&of(a)?, &of(b)?),
            Expression::Siblings(inner) => machine.siblings(&of(inner)?)?,
            Expression::Node(numbers) => {
                let mut cpus = CpuSet::new();
                for number in numbers.iter() {
                    machine.node(number.0)?.iter().for_each(|cpu| cpus.insert(cpu));
                }
                cpus
            }
            Expression::First(count, inner) => of(inner)?.iter().take(*count).collect(),
            Expression::Last(count, inner) => {
                let cpus = of(inner)?;
                cpus.iter().skip(cpus.len().saturating_sub(*count)).collect()
            }
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    List(String),
    Name(String),
    Sign(char),
}

impl Token {
    fn show(&self) -> String {
        match self {
            Token::List(text) | Token::Name(text) => text.clone(),
            Token::Sign(sign) => sign.to_string(),
        }
    }
}

/// A `-` within a number's or a name's characters belongs to it: `2-3`, `no-balance`; with blanks it takes away.
fn tokens(text: &str) -> Result<Vec<Token>, Mistake> {
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
            other => return Err(Mistake::new(format!("`{other}` is no part of a set of CPUs"), POSSIBLE)),
        };
        let word = rest[..length].to_owned();
        tokens.push(match first {
            '0'..='9' => Token::List(word),
            '+' | '-' | '&' | ',' | '(' | ')' => Token::Sign(first),
            _ => Token::Name(word),
        });
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

/// Characters of a variable's name, after the first letter.
pub(super) fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn next(&mut self) -> Option<Token> {
        self.at += 1;
        self.tokens.get(self.at - 1).cloned()
    }

    fn takes(&mut self, token: &Token) -> bool {
        let is_next = self.tokens.get(self.at) == Some(token);
        self.at += usize::from(is_next);
        is_next
    }

    fn sign(&mut self, sign: char) -> bool {
        self.takes(&Token::Sign(sign))
    }

    fn set(&mut self) -> Result<Expression, Mistake> {
        let mut left = self.both()?;
        loop {
            if self.sign('+') {
                left = Expression::Or(Box::new(left), Box::new(self.both()?));
            } else if self.sign('-') {
                left = Expression::Minus(Box::new(left), Box::new(self.both()?));
            } else {
                return Ok(left);
            }
            self.grows()?;
        }
    }

    fn both(&mut self) -> Result<Expression, Mistake> {
        let mut left = self.list()?;
        while self.sign('&') {
            left = Expression::And(Box::new(left), Box::new(self.list()?));
            self.grows()?;
        }
        Ok(left)
    }

    fn list(&mut self) -> Result<Expression, Mistake> {
        let mut left = self.plain()?;
        while self.sign(',') {
            left = Expression::Or(Box::new(left), Box::new(self.plain()?));
            self.grows()?;
        }
        Ok(left)
    }

    /// Chains nest as well: evaluation, and dropping, call themselves.
    fn grows(&mut self) -> Result<(), Mistake> {
        self.depth += 1;
        match self.depth > DEEPEST {
            true => Err(Mistake::new("this set of CPUs has too many parts", POSSIBLE)),
            false => Ok(()),
        }
    }

    fn plain(&mut self) -> Result<Expression, Mistake> {
        self.grows()?;
        let found = match self.next() {
            Some(Token::Sign('(')) => {
                let set = self.set()?;
                self.close()?;
                set
            }
            Some(Token::List(list)) => Expression::List(numbers(&list)?),
            Some(Token::Name(name)) => self.named(name)?,
            Some(token) => {
                return Err(Mistake::new(
                    format!("there is no set of CPUs before `{}`", token.show()),
                    POSSIBLE,
                ));
            }
            None => return Err(Mistake::new("a set of CPUs is missing at the end", POSSIBLE)),
        };
        Ok(found)
    }

    fn named(&mut self, name: String) -> Result<Expression, Mistake> {
        Ok(match name.as_str() {
            "not" => Expression::Not(Box::new(self.plain()?)),
            "siblings" => {
                self.open(&name)?;
                let set = self.set()?;
                self.close()?;
                Expression::Siblings(Box::new(set))
            }
            "node" => {
                self.open(&name)?;
                let Some(Token::List(list)) = self.next() else {
                    return Err(Mistake::new(
                        "`node` takes numbers of nodes",
                        "write it like `node(0)` or `node(0-1)`",
                    ));
                };
                self.close()?;
                Expression::Node(numbers(&list)?)
            }
            "first" | "last" => {
                self.open(&name)?;
                let count = self.count()?;
                let set = Box::new(self.set()?);
                self.close()?;
                match name == "first" {
                    true => Expression::First(count, set),
                    false => Expression::Last(count, set),
                }
            }
            "of" | "each" | "and" | "or" => {
                return Err(Mistake::new(format!("`{name}` is no set of CPUs"), POSSIBLE));
            }
            _ => Expression::Name(name),
        })
    }

    /// `2 of`, or nothing: one.
    fn count(&mut self) -> Result<usize, Mistake> {
        let of = self.tokens.get(self.at + 1) == Some(&Token::Name("of".to_owned()));
        let Some(Token::List(number)) = self.tokens.get(self.at).filter(|_| of) else { return Ok(1) };
        let count = number.parse().map_err(|_| {
            Mistake::new(format!("`{number}` is not a number of CPUs"), "write it like `first(2 of cores)`")
        })?;
        self.at += 2;
        Ok(count)
    }

    fn open(&mut self, name: &str) -> Result<(), Mistake> {
        match self.sign('(') {
            true => Ok(()),
            false => Err(Mistake::new(format!("`{name}` is not followed by `(`"), POSSIBLE)),
        }
    }

    fn close(&mut self) -> Result<(), Mistake> {
        match self.sign(')') {
            true => Ok(()),
            false => Err(Mistake::new("a `)` is missing", POSSIBLE)),
        }
    }
}

fn numbers(list: &str) -> Result<CpuSet, Mistake> {
    list.parse().map_err(|_| Mistake::new(format!("`{list}` is no list of numbers"), "write it like 0-3,8"))
}

#[cfg(test)]
mod tests;
