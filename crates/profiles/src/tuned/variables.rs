//! Variables and what stands for them: `${name}`, `${f:function:argument:...}`, one within the other. A backslash
//! before the dollar keeps a reference from being replaced, once.
//!
//! What no file has (the output of a program that is not run) is not guessed: a text that needs it is
//! [`Text::unknown`], and so is whatever is made of it.

use super::error::{TunedError, TunedLocation};
use super::functions::{self, Answer, Facts};
use super::python::is_word;
use crate::Skipped;
use std::collections::{BTreeSet, HashMap};

/// A text may not grow beyond so many characters, however variables multiply each other.
const MOST_CHARACTERS: usize = 1 << 17;
/// Nor may all of them together.
const MOST_ALTOGETHER: usize = 1 << 24;
/// Nor may one text call more functions.
const MOST_CALLS: usize = 1000;

/// A text with nothing left to be replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) text: String,
    /// Why it cannot be determined what it is.
    pub(super) unknown: Option<String>,
}

/// The variables of a profile.
pub(super) struct Variables<'a> {
    pub(super) facts: Facts<'a>,
    known: HashMap<String, Text>,
    order: Vec<String>,
    /// Those that the user has set: no profile sets them again.
    given: BTreeSet<String>,
    /// Those that are asked for.
    referred: BTreeSet<String>,
    /// How many characters all texts have had.
    characters: usize,
    /// What is not done as the variables have it.
    pub(super) skipped: Vec<Skipped>,
    /// Where variables were to come from and are not.
    pub(super) absent: Vec<String>,
}

impl<'a> Variables<'a> {
    pub(super) fn new(facts: Facts<'a>) -> Variables<'a> {
        Variables {
            facts,
            known: HashMap::new(),
            order: Vec::new(),
            given: BTreeSet::new(),
            referred: BTreeSet::new(),
            characters: 0,
            skipped: Vec::new(),
            absent: Vec::new(),
        }
    }

    /// Sets a variable for good.
    pub(super) fn give(
        &mut self,
        name: &str,
        value: &str,
        location: &TunedLocation,
    ) -> Result<(), TunedError> {
        self.set(name, value, location)?;
        self.given.insert(name.to_owned());
        Ok(())
    }

    /// Sets a variable, unless the user has.
    pub(super) fn set(
        &mut self,
        name: &str,
        value: &str,
        location: &TunedLocation,
    ) -> Result<(), TunedError> {
        if name.is_empty() || !name.chars().all(is_word) {
            self.skipped.push(Skipped {
                what: format!("{location}: variable `{name}`"),
                why: "TuneD takes no other characters for a name than letters, digits and `_`".to_owned(),
            });
            return Ok(());
        }
        // It is expanded all the same: an assertion counts even so.
        let value = self.expand(value, location)?;
        self.referred.insert(name.to_owned());
        if self.given.contains(name) {
            return Ok(());
        }
        if self.known.insert(name.to_owned(), value).is_none() {
            self.order.push(name.to_owned());
        }
        Ok(())
    }

    /// The first variable that was given and that no profile sets or asks for.
    pub(super) fn useless(&self, given: &[(String, String)]) -> Option<String> {
        given.iter().map(|(name, _)| name).find(|&name| !self.referred.contains(name)).cloned()
    }

    /// Forgets what was asked for so far: what one variable given asks of another does not count.
    pub(super) fn forget_references(&mut self) {
        self.referred.clear();
    }

    /// The names that a profile sets or asks for.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.referred.iter().map(String::as_str)
    }

    /// Each variable that has a value, in the order in which they were set.
    pub(super) fn resolved(&self) -> Vec<(String, String)> {
        let with_text = self.order.iter().map(|name| (name, &self.known[name]));
        let known = with_text.filter(|(_, value)| value.unknown.is_none() && !value.text.contains("${"));
        known.map(|(name, value)| (name.clone(), value.text.clone())).collect()
    }

    /// A text with its variables and functions replaced.
    ///
    /// # Errors
    /// If an assertion fails, or the text becomes too long.
    pub(super) fn expand(&mut self, text: &str, location: &TunedLocation) -> Result<Text, TunedError> {
        let replaced = self.replace(text, location)?;
        let mut text = Text { text: unescape(&replaced.text), unknown: replaced.unknown };
        if text.text.contains("${f") {
            text = self.call_all(text, location)?;
            text.text = unescape_functions(&text.text);
        }
        self.characters += text.text.len();
        match self.characters > MOST_ALTOGETHER {
            true => Err(too_long(location)),
            false => Ok(text),
        }
    }

    fn replace(&mut self, text: &str, location: &TunedLocation) -> Result<Text, TunedError> {
        let mut done = Text::default();
        let mut rest = text;
        let mut escaped = false;
        while let Some(c) = rest.chars().next() {
            if c == '$'
                && !escaped
                && let Some(name) = reference(rest)
            {
                self.referred.insert(name.to_owned());
                if let Some(value) = self.known.get(name) {
                    done.text.push_str(&value.text);
                    done.unknown = done.unknown.or_else(|| value.unknown.clone());
                    if done.text.len() > MOST_CHARACTERS {
                        return Err(too_long(location));
                    }
                    rest = &rest[name.len() + 3..];
                    continue;
                }
            }
            escaped = c == '\\';
            done.text.push(c);
            rest = &rest[c.len_utf8()..];
        }
        Ok(done)
    }

    /// Calls functions from the left, the inner ones first. TuneD goes over the text once, and goes on behind what a
    /// function has put there; where that is empty and begins the text, the next character is not looked at.
    fn call_all(&mut self, text: Text, location: &TunedLocation) -> Result<Text, TunedError> {
        let mut unknown = text.unknown;
        let mut text: Vec<char> = text.text.chars().collect();
        let mut open: Vec<(bool, usize)> = Vec::new();
        let (mut at, mut escaped, mut calls) = (0, false, 0);
        while at < text.len() {
            if text[at] == '}' {
                // One without a partner ends it.
                let Some((was_escaped, from)) = open.pop() else { break };
                if !was_escaped && let Some(arguments) = call(&text[from..at]) {
                    calls += 1;
                    if calls > MOST_CALLS {
                        return Err(TunedError::written(
                            location,
                            "it calls too many functions",
                            "call fewer",
                        ));
                    }
                    let answer = match functions::call(&arguments, &self.facts, unknown.as_deref(), location)?
                    {
                        Answer::Text(answer) => Some(answer),
                        Answer::Unknown(why) => {
                            unknown = unknown.or(Some(why));
                            Some(String::new())
                        }
                        Answer::Untold(left) => {
                            self.skipped.push(left);
                            None
                        }
                        Answer::Nothing => None,
                    };
                    if let Some(answer) = answer {
                        let answer: Vec<char> = answer.chars().collect();
                        let next = (from + answer.len()).saturating_sub(1);
                        text.splice(from..=at, answer);
                        at = next;
                        if text.len() > MOST_CHARACTERS {
                            return Err(too_long(location));
                        }
                    }
                }
            } else if text[at] == '$' && text.get(at + 1) == Some(&'{') {
                open.push((escaped, at));
            }
            escaped = text.get(at) == Some(&'\\');
            at += 1;
        }
        Ok(Text { text: text.into_iter().collect(), unknown })
    }
}

fn too_long(location: &TunedLocation) -> TunedError {
    let what = "with its variables replaced it is too long to be meant so";
    TunedError::written(location, what, "look for a variable that contains itself several times")
}

/// The name in `${name}` at the beginning.
fn reference(text: &str) -> Option<&str> {
    let name = text.strip_prefix("${")?;
    let end = name.find(|c| !is_word(c))?;
    (end > 0 && name[end..].starts_with('}')).then_some(&name[..end])
}

/// `\${name}` loses its backslash.
fn unescape(text: &str) -> String {
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        done.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match reference(rest) {
            Some(name) => {
                let end = name.len() + 3;
                done.push_str(&rest[..end]);
                rest = &rest[end..];
            }
            None => done.push('\\'),
        }
    }
    done.push_str(rest);
    done
}

/// `\${f:...}` loses its backslash, the first one of a line.
fn unescape_functions(text: &str) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| match line.find("\\${f:") {
            Some(at) if line[at..].contains('}') => {
                // What is behind the last bracket cannot have another.
                format!("{}{}", &line[..at], &line[at + 1..])
            }
            _ => line.to_owned(),
        })
        .collect();
    lines.join("\n")
}

/// The name and the arguments in `${f:name:argument`, if it is that.
fn call(text: &[char]) -> Option<Vec<String>> {
    let mut parts = vec![String::new()];
    let mut before = None;
    for &c in text {
        match c {
            ':' if before != Some('\\') => parts.push(String::new()),
            c => parts.last_mut()?.push(c),
        }
        before = Some(c);
    }
    let mut parts = parts.into_iter();
    (parts.next()? == "${f").then(|| parts.map(|part| part.replace("\\:", ":")).collect::<Vec<_>>())
}

/// The first reference in a text that nothing stood for.
pub(super) fn unresolved(text: &str) -> Option<&str> {
    let from = &text[text.find("${")?..];
    Some(&from[..from.find('}').map_or(from.len(), |end| end + 1)])
}
