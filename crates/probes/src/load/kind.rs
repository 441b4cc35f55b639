//! The kinds of load, and their names.

use std::fmt;
use std::str::FromStr;

/// A load of our own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LoadKind {
    /// Computes.
    Cpu,
    /// Maps and touches memory.
    Memory,
    /// Empties caches.
    Cache,
    /// Writes to a file system.
    Io,
    /// Sends to itself.
    Net,
    /// Starts processes.
    Fork,
    /// Sets timers.
    Timer,
    /// Interrupts.
    Irq,
}

impl LoadKind {
    /// All of them.
    pub const ALL: [LoadKind; 8] = [
        LoadKind::Cpu,
        LoadKind::Memory,
        LoadKind::Cache,
        LoadKind::Io,
        LoadKind::Net,
        LoadKind::Fork,
        LoadKind::Timer,
        LoadKind::Irq,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            LoadKind::Cpu => "cpu",
            LoadKind::Memory => "memory",
            LoadKind::Cache => "cache",
            LoadKind::Io => "io",
            LoadKind::Net => "net",
            LoadKind::Fork => "fork",
            LoadKind::Timer => "timer",
            LoadKind::Irq => "irq",
        }
    }

    /// What it does, on each of its CPUs.
    pub fn what(self) -> &'static str {
        match self {
            LoadKind::Cpu => "computes without a pause",
            LoadKind::Memory => "maps 16 MiB, touches every page and unmaps them, over and over",
            LoadKind::Cache => {
                "adds to words all over 8 MiB that its CPUs share, and so empties their caches"
            }
            LoadKind::Io => "writes a file of 16 MiB in the directory for temporary files and syncs each MiB",
            LoadKind::Net => "sends packets of 1400 bytes to itself over the loopback device",
            LoadKind::Fork => "forks processes that end at once",
            LoadKind::Timer => "sleeps for 50 us at a time: thousands of timer interrupts a second",
            LoadKind::Irq => "has its CPUs interrupt each other (membarrier) without a pause",
        }
    }
}

impl fmt::Display for LoadKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Load {
    /// Of our own.
    Own(LoadKind),
    /// A command for the shell.
    Command(String),
}

impl Load {
    /// What it does, in words.
    pub fn what(&self) -> &'static str {
        match self {
            Load::Own(kind) => kind.what(),
            Load::Command(_) => "a command",
        }
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Load::Own(kind) => kind.fmt(f),
            Load::Command(command) => f.write_str(command),
        }
    }
}

/// Why a text names no load.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no load {0:?}: there are {names}, and commands, which have an argument or a path", names = names())]
pub struct ParseLoadError(String);

fn names() -> String {
    LoadKind::ALL.map(LoadKind::name).join(", ")
}

/// Loads as a user asks for them: names of our own between commas, or a command, which has a blank or a slash in it.
///
/// # Errors
/// [`ParseLoadError`] where it is neither.
pub fn parse(text: &str) -> Result<Vec<Load>, ParseLoadError> {
    let text = text.trim();
    let own = |name: &str| {
        let kind = LoadKind::ALL.into_iter().find(|kind| kind.name() == name.trim());
        kind.map(Load::Own).ok_or_else(|| ParseLoadError(name.trim().to_owned()))
    };
    match text.split(',').map(own).collect::<Result<Vec<Load>, _>>() {
        Ok(mut loads) => {
            let mut seen = Vec::new();
            loads.retain(|load| {
                !seen.contains(load) && {
                    seen.push(load.clone());
                    true
                }
            });
            Ok(loads)
        }
        Err(_) if text.contains([' ', '/']) => Ok(vec![Load::Command(text.to_owned())]),
        Err(error) => Err(error),
    }
}

impl FromStr for Load {
    type Err = ParseLoadError;

    /// One load.
    fn from_str(text: &str) -> Result<Load, ParseLoadError> {
        match &parse(text)?[..] {
            [load] => Ok(load.clone()),
            _ => Err(ParseLoadError(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_commands_are_told_apart() {
        let own = |kinds: &[LoadKind]| kinds.iter().copied().map(Load::Own).collect::<Vec<_>>();
        assert_eq!(parse("cpu"), Ok(own(&[LoadKind::Cpu])));
        assert_eq!(parse("io, net,io"), Ok(own(&[LoadKind::Io, LoadKind::Net])));
        let command = |text: &str| Ok(vec![Load::Command(text.to_owned())]);
        assert_eq!(parse("stress-ng --cpu 2"), command("stress-ng --cpu 2"));
        assert_eq!(parse("./noise"), command("./noise"));
        for (text, wrong) in [("", ""), ("cpu,disk", "disk"), ("stress-ng", "stress-ng"), ("cpu,", "")] {
            assert_eq!(parse(text), Err(ParseLoadError(wrong.to_owned())), "{text}");
        }
        for kind in LoadKind::ALL {
            assert_eq!(kind.name().parse(), Ok(Load::Own(kind)));
        }
        assert!("cpu,io".parse::<Load>().is_err());
    }
}
