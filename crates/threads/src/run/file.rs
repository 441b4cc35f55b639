//! A file with the options of a run, in TOML: each key is an option's name, and `command` the program with its arguments.
//!
//! ```toml
//! fifo = 80
//! cpus = "3"
//! limit = { memlock = "unlimited" }
//! new-threads = { "ros2_ctl*" = "fifo:80@3" }
//! command = ["./control", "--rate", "1000"]
//! ```

use toml::{Table, Value};

/// What a file may hold besides `command`: the names of options.
const KEYS: [&str; 20] = [
    "fifo",
    "rr",
    "other",
    "batch",
    "idle",
    "deadline",
    "cpus",
    "timer-slack",
    "memory-node",
    "limit",
    "cgroup",
    "isolated",
    "user",
    "dma-latency",
    "irq",
    "new-threads",
    "lock-memory",
    "stack-prefault",
    "force",
    "verbose",
];
/// Those of which one excludes the others.
const POLICIES: [&str; 6] = ["fifo", "rr", "other", "batch", "idle", "deadline"];

/// The content of such a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFile {
    /// Options with their values, in the file's order of names; `None`: an option without a value.
    pub options: Vec<(String, Option<String>)>,
    /// The program with its arguments; empty: none.
    pub command: Vec<String>,
}

impl RunFile {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// What is wrong with it, in a sentence. Values are checked where the options are.
    pub fn parse(text: &str) -> Result<RunFile, String> {
        let table: Table =
            text.parse().map_err(|error: toml::de::Error| error.to_string().trim_end().to_owned())?;
        let mut file = RunFile::default();
        for (key, value) in table {
            match (key.as_str(), value) {
                ("command", Value::Array(words)) => {
                    file.command =
                        words.iter().map(|word| plain("command", word)).collect::<Result<_, _>>()?;
                }
                ("command", _) => {
                    return Err(
                        "command: write it as a list, [\"./control\", \"--rate\", \"1000\"]".to_owned()
                    );
                }
                (name, value) if KEYS.contains(&name) => file.add(name, value)?,
                (name, _) => {
                    return Err(format!(
                        "`{name}` is no key of such a file: use command, {}",
                        KEYS.join(", ")
                    ));
                }
            }
        }
        Ok(file)
    }

    fn add(&mut self, name: &str, value: Value) -> Result<(), String> {
        match value {
            Value::Boolean(true) => self.options.push((name.to_owned(), None)),
            Value::Boolean(false) => {}
            Value::Array(values) => {
                for value in &values {
                    self.options.push((name.to_owned(), Some(plain(name, value)?)));
                }
            }
            Value::Table(table) => {
                for (key, value) in &table {
                    self.options.push((name.to_owned(), Some(format!("{key}={}", plain(name, value)?))));
                }
            }
            value => self.options.push((name.to_owned(), Some(plain(name, &value)?))),
        }
        Ok(())
    }

    /// Leaves out what the command line has as well, by the names of its options: that counts. A policy there replaces any
    /// policy of the file.
    #[must_use]
    pub fn without(self, given: &[String]) -> RunFile {
        let has_policy = given.iter().any(|name| POLICIES.contains(&name.as_str()));
        let is_replaced =
            |name: &String| given.contains(name) || has_policy && POLICIES.contains(&name.as_str());
        let options = self.options.into_iter().filter(|(name, _)| !is_replaced(name)).collect();
        RunFile { options, ..self }
    }
}

fn plain(name: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        _ => Err(format!("{name}: give a text, a number, or a list of them")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "fifo = 80\ncpus = \"3\"\nforce = true\nverbose = false\nlimit = { rtprio = 80, memlock = \"unlimited\" }\n\
        irq = [\"eth0*=@1\"]\ncommand = [\"./control\", \"--rate\", \"1000\"]\n[new-threads]\n\"ros2_ctl*\" = \"fifo:80@3\"\n";

    #[test]
    fn keys_are_options() {
        let file = RunFile::parse(FILE).expect("a file");
        assert_eq!(file.command, ["./control", "--rate", "1000"]);
        let mut options: Vec<String> = file
            .options
            .iter()
            .map(|(name, value)| format!("{name} {}", value.as_deref().unwrap_or("-")))
            .collect();
        options.sort_unstable();
        let expected = [
            "cpus 3",
            "fifo 80",
            "force -",
            "irq eth0*=@1",
            "limit memlock=unlimited",
            "limit rtprio=80",
            "new-threads ros2_ctl*=fifo:80@3",
        ];
        assert_eq!(options, expected);
    }

    #[test]
    fn the_command_line_counts() {
        let file = RunFile::parse(FILE).expect("a file").without(&["rr".to_owned(), "cpus".to_owned()]);
        assert!(file.options.iter().all(|(name, _)| !matches!(name.as_str(), "fifo" | "cpus")), "{file:?}");
    }

    #[test]
    fn what_is_wrong_is_reported() {
        for (text, words) in [
            ("fifo = ", "TOML parse error"),
            ("prio = 1", "`prio` is no key"),
            ("command = \"x\"", "as a list"),
            ("cpus = 1.5", "cpus: give a text"),
            ("irq = [[1]]", "irq: give a text"),
        ] {
            let error = RunFile::parse(text).expect_err(text);
            assert!(error.contains(words), "{error}");
        }
    }
}
