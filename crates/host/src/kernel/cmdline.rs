//! The kernel's command line, as Documentation/admin-guide/kernel-parameters.rst defines it.

use crate::FromText;
use std::fmt;

/// The parameters, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cmdline(Vec<(String, Option<String>)>);

impl Cmdline {
    /// Whether a parameter is given, with or without a value. Dashes and underscores are the same.
    pub fn has(&self, name: &str) -> bool {
        self.all(name).next().is_some()
    }

    /// The value of a parameter. Where it is given more than once the last counts, as for most.
    /// A parameter without a value has an empty one.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.all(name).last()
    }

    /// Every value of a parameter, in order.
    pub fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        let same = |own: &str| {
            own.len() == name.len()
                && own
                    .bytes()
                    .zip(name.bytes())
                    .all(|(a, b)| a == b || (matches!(a, b'-' | b'_') && matches!(b, b'-' | b'_')))
        };
        let values = self.0.iter().filter(move |(own, _)| same(own));
        values.map(|(_, value)| value.as_deref().unwrap_or_default()).collect::<Vec<_>>().into_iter()
    }

    /// As evidence: `name=value`, `name`, or `no name`.
    pub fn show(&self, name: &str) -> String {
        match self.get(name) {
            Some("") => name.to_owned(),
            Some(value) => format!("{name}={value}"),
            None => format!("no {name}"),
        }
    }
}

impl FromText for Cmdline {
    const EXPECTED: &'static str = "kernel parameters";

    /// What follows `--` is for init.
    fn from_text(text: &str) -> Option<Self> {
        // Without parameters the file has an empty line.
        if text.is_empty() {
            return None;
        }
        let words = words(text).into_iter().take_while(|word| word != "--");
        Some(Cmdline(
            words
                .map(|word| match word.split_once('=') {
                    Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                    None => (word, None),
                })
                .collect(),
        ))
    }
}

/// Words between blanks; in double quotes a blank is part of the word.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    for c in text.trim_matches(['\0', '\n']).chars() {
        match c {
            '"' => quoted = !quoted,
            c if c.is_ascii_whitespace() && !quoted => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

impl fmt::Display for Cmdline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, value)) in self.0.iter().enumerate() {
            let blank = if at == 0 { "" } else { " " };
            match value {
                Some(value) => write!(f, "{blank}{name}={value}")?,
                None => write!(f, "{blank}{name}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters() {
        let line = "isolcpus=nohz,domain,2-3 threadirqs preempt=none preempt=full dyndbg=\"file x +p\" \
                    rcu-nocbs=2 -- isolcpus=9\n";
        let cmdline = Cmdline::from_text(line).expect("parameters");
        assert_eq!(cmdline.get("isolcpus"), Some("nohz,domain,2-3"));
        assert_eq!(cmdline.get("threadirqs"), Some(""));
        assert_eq!(cmdline.get("preempt"), Some("full"));
        assert_eq!(cmdline.get("dyndbg"), Some("file x +p"));
        assert_eq!(cmdline.get("rcu_nocbs"), Some("2"));
        assert_eq!(cmdline.get("nohz_full"), None);
        assert_eq!(cmdline.show("threadirqs"), "threadirqs");
        assert_eq!(cmdline.show("nohz_full"), "no nohz_full");
        assert!(!cmdline.has("thread"));
    }
}
