//! The configuration file of a watch: threads with their deadlines, and what is run for a late activation.

use super::options::WatchRule;
use serde::Deserialize;
use std::path::Path;
use whylate_base::parse_duration;
use whylate_ledger::Select;

/// What a configuration has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchConfig {
    /// The threads; the first rule that fits a thread counts.
    pub rules: Vec<WatchRule>,
    /// A command for `/bin/sh -c`.
    pub on_late: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Document {
    on_late: Option<String>,
    #[serde(default)]
    thread: Vec<Thread>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Thread {
    name: String,
    deadline: Option<String>,
}

impl WatchConfig {
    /// Reads a file.
    ///
    /// # Errors
    /// In a sentence with the file's name: why it cannot be read, or is no configuration.
    pub fn read(path: &Path) -> Result<WatchConfig, String> {
        let name = path.display();
        let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {name}: {error}"))?;
        WatchConfig::parse(&text).map_err(|why| format!("{name}: {why}"))
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// In a sentence, why it is no configuration.
    pub fn parse(text: &str) -> Result<WatchConfig, String> {
        let document: Document =
            toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        if document.thread.is_empty() {
            return Err("it names no thread: add a [[thread]] with a name".to_owned());
        }
        let rules = document.thread.iter().map(rule).collect::<Result<_, String>>()?;
        Ok(WatchConfig { rules, on_late: document.on_late })
    }
}

fn rule(thread: &Thread) -> Result<WatchRule, String> {
    let of_thread = |why: String| format!("thread {:?}: {why}", thread.name);
    let deadline = thread.deadline.as_deref().map(parse_duration).transpose();
    let deadline = deadline.map_err(|error| of_thread(format!("deadline: {error}")))?;
    if deadline.is_some_and(|deadline| deadline <= whylate_base::Ns::ZERO) {
        return Err(of_thread("deadline: it must be more than zero".to_owned()));
    }
    Ok(WatchRule { threads: Some(WatchRule::select(&thread.name)?), deadline })
}

impl WatchRule {
    /// The threads of a text: an id, a name, or a pattern with `*`.
    ///
    /// # Errors
    /// In a sentence: it is empty.
    pub fn select(text: &str) -> Result<Select, String> {
        match text {
            "" => Err("give a thread's name, a pattern with *, or an id".to_owned()),
            _ if text.contains('*') => Ok(Select::Pattern(text.to_owned())),
            _ => Ok(Select::parse(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::{Ns, Tid};

    #[test]
    fn a_configuration_has_threads_and_an_action() {
        let text =
            "on-late = 'logger'\n[[thread]]\nname = 'ctl*'\ndeadline = '500us'\n[[thread]]\nname = '4711'\n";
        let config = WatchConfig::parse(text).expect("a configuration");
        let rule = |threads, deadline| WatchRule { threads: Some(threads), deadline };
        let rules = vec![
            rule(Select::Pattern("ctl*".to_owned()), Some(Ns::from_us(500))),
            rule(Select::Tid(Tid(4711)), None),
        ];
        assert_eq!(config, WatchConfig { rules, on_late: Some("logger".to_owned()) });
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, words) in [
            ("", "it names no thread"),
            ("[[thread]]\n", "missing field `name`"),
            ("[[thread]]\nname = ''\n", "give a thread's name"),
            ("[[thread]]\nname = 'a'\ndeadline = '5'\n", "thread \"a\": deadline: `5` is not a duration"),
            ("[[thread]]\nname = 'a'\ndeadline = '0us'\n", "more than zero"),
            ("[[thread]]\nname = 'a'\ndedline = '5us'\n", "unknown field `dedline`"),
            ("[[thread]\n", "line 1"),
        ] {
            let why = WatchConfig::parse(text).expect_err(text);
            assert!(why.contains(words), "{text:?}: {why}");
        }
    }
}
