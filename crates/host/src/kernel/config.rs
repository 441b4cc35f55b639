//! The configuration a kernel was built with.

use crate::{FsRoot, Reading, Why};
use std::collections::{HashMap, HashSet};
use std::io::Read;

/// A configuration has about 300 KiB; longer files are not one.
const MOST_BYTES: u64 = 4 << 20;

/// The options of a `.config`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    options: HashMap<String, String>,
    /// Those it names as not set. One that the kernel's sources do not have is neither here nor there.
    off: HashSet<String>,
    of_running: bool,
}

impl Config {
    /// From the text of a `.config`; `of_running`: it is the running kernel's own (`/proc/config.gz`).
    pub(super) fn parse(text: &str, of_running: bool) -> Option<Config> {
        let options: HashMap<String, String> = text
            .lines()
            .filter_map(|line| line.strip_prefix("CONFIG_")?.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.trim_matches('"').to_owned()))
            .collect();
        let off = text
            .lines()
            .filter_map(|line| line.strip_prefix("# CONFIG_")?.strip_suffix(" is not set"))
            .map(str::to_owned)
            .collect();
        (!options.is_empty()).then_some(Config { options, off, of_running })
    }

    /// The value of an option, named without `CONFIG_`: `y`, `m`, a number, a text. `None`: not set.
    pub fn get(&self, option: &str) -> Option<&str> {
        self.options.get(option).map(String::as_str)
    }

    /// Whether an option is built in, `y`.
    pub fn has(&self, option: &str) -> bool {
        self.get(option) == Some("y")
    }

    /// Whether the kernel has the option and was built without it.
    pub fn is_off(&self, option: &str) -> bool {
        self.off.contains(option)
    }

    /// As a `.config` writes it: `CONFIG_SMP=y`, or `CONFIG_SMP is not set`.
    pub fn line(&self, option: &str) -> String {
        match self.get(option) {
            Some(value) => format!("CONFIG_{option}={value}"),
            None => format!("CONFIG_{option} is not set"),
        }
    }

    /// True when the kernel itself gave it out. A file in /boot may be another build's.
    pub fn is_of_running(&self) -> bool {
        self.of_running
    }
}

/// The running kernel's configuration, from the first place that has it.
pub(super) fn read(tree: &FsRoot, release: &Reading<String>) -> Reading<Config> {
    let own =
        tree.bytes("/proc/config.gz").and_then(|bytes| unzip(bytes)).and_then(|text| understood(text, true));
    if own.known().is_some() {
        return own;
    }
    let Some(release) = release.known().filter(|release| !release.contains('/')) else { return own };
    let places = [
        format!("/boot/config-{release}"),
        format!("/lib/modules/{release}/config"),
        format!("/usr/lib/modules/{release}/config"),
        format!("/usr/lib/ostree-boot/config-{release}"),
        format!("/lib/modules/{release}/build/.config"),
    ];
    let mut refused = own;
    for place in places {
        let config = tree.text(&place).and_then(|text| understood(text, false));
        match &config.value {
            Ok(_) => return config,
            // A refused or hidden path is a better reason than a missing one.
            Err(why) if *why != Why::Missing && refused.value == Err(Why::Missing) => refused = config,
            Err(_) => {}
        }
    }
    refused
}

fn unzip(bytes: &[u8]) -> Result<String, Why> {
    let mut text = Vec::new();
    match flate2::read::GzDecoder::new(bytes).take(MOST_BYTES).read_to_end(&mut text) {
        Ok(_) => Ok(String::from_utf8_lossy(&text).into_owned()),
        Err(_) => Err(Why::Malformed { expected: "a gzip file".to_owned() }),
    }
}

fn understood(text: &str, of_running: bool) -> Result<Config, Why> {
    Config::parse(text, of_running).ok_or_else(|| Why::Malformed { expected: "CONFIG_... lines".to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "#\n# comment\nCONFIG_SMP=y\n# CONFIG_PREEMPT_RT is not set\nCONFIG_HZ=250\nCONFIG_X=\"a b\"\nCONFIG_M=m\n";

    #[test]
    fn options() {
        let config = Config::parse(TEXT, false).expect("config");
        assert!(config.has("SMP") && !config.has("PREEMPT_RT") && !config.has("M"));
        assert_eq!((config.get("HZ"), config.get("X")), (Some("250"), Some("a b")));
        assert_eq!(config.line("PREEMPT_RT"), "CONFIG_PREEMPT_RT is not set");
        assert_eq!(Config::parse("nothing", false), None);
    }

    #[test]
    fn the_first_place_that_has_it_counts() {
        let release = Reading::new("/r", Ok("6.1.0".to_owned()));
        let tree = FsRoot::memory(&[("/proc/stat", ""), ("/boot/config-6.1.0", TEXT)]);
        let config = read(&tree, &release);
        assert_eq!(config.path, "/boot/config-6.1.0");
        assert!(!config.need().expect("read").is_of_running());
        let broken = FsRoot::memory(&[("/proc/config.gz", "no gzip"), ("/boot/x", "")]);
        assert!(matches!(read(&broken, &release).value, Err(Why::Malformed { .. })));
    }
}
