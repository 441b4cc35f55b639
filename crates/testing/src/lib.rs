//! What the tests of several crates share: a root directory that stands for a machine, and reports of skipped tests.
//!
//! libtest knows only passed and failed: a test that returns early counts as passed. `cargo xtask test` sets
//! [`SKIPS`] to a file, [`skip`] appends a line to it, and the closing summary lists these lines. In CI a skip
//! fails the run where the machine has what the test needs.

pub mod mutation;
mod root;

pub use root::{TestRoot, parameter};

use std::env;
use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;
use std::panic::Location;
use std::path::Path;
use std::thread;

/// The environment variable with the path of the file to which skips are appended.
pub const SKIPS: &str = "WHYLATE_TEST_SKIPS";

/// What a test needs and does not find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Root, or a capability that root has.
    Root,
    /// A tracefs in which this user may create an instance.
    Tracefs,
    /// A program that Debian packages.
    Program,
    /// A feature of the kernel, of the hardware or of the test binary, or a machine less busy.
    Machine,
    /// Recordings that are not part of the repository.
    Recordings,
    /// An environment variable: the test takes minutes, and another step of `cargo xtask test` covers it.
    Request,
}

impl Need {
    /// All of them.
    pub const ALL: [Need; 6] =
        [Need::Root, Need::Tracefs, Need::Program, Need::Machine, Need::Recordings, Need::Request];

    /// One word for it.
    pub fn word(self) -> &'static str {
        match self {
            Need::Root => "root",
            Need::Tracefs => "tracefs",
            Need::Program => "program",
            Need::Machine => "machine",
            Need::Recordings => "recordings",
            Need::Request => "request",
        }
    }
}

/// One report of a test that did not run, or not in full.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skip {
    /// The package and the test.
    pub name: String,
    /// [`Need::word`].
    pub need: String,
    /// Why the test could not run.
    pub reason: String,
}

impl Skip {
    /// The line for the file: three columns between tabs.
    fn line(&self) -> String {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("{}\t{}\t{}\n", one_line(&self.name), self.need, one_line(&self.reason))
    }

    /// The reports in the text of such a file, sorted and each only once.
    pub fn all(text: &str) -> Vec<Skip> {
        let mut skips: Vec<Skip> = text.lines().filter_map(Skip::parse).collect();
        skips.sort();
        skips.dedup();
        skips
    }

    fn parse(line: &str) -> Option<Skip> {
        let mut columns = line.splitn(3, '\t').map(str::to_owned);
        Some(Skip { name: columns.next()?, need: columns.next()?, reason: columns.next()? })
    }
}

/// Reports that the calling test does not run, or not in full. The test returns after that.
///
/// # Panics
/// If the file that [`SKIPS`] names cannot be written: a skip must not pass unseen.
#[track_caller]
pub fn skip(need: Need, reason: impl Display) {
    let skip = Skip {
        name: test_name(Location::caller()),
        need: need.word().to_owned(),
        reason: reason.to_string(),
    };
    println!("skipped: {}: {}", skip.name, skip.reason);
    let Some(path) = env::var_os(SKIPS) else { return };
    // One write of one line: appends of several processes do not mix.
    let written = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .and_then(|mut file| file.write_all(skip.line().as_bytes()));
    written.unwrap_or_else(|error| panic!("cannot append to {}: {error}", Path::new(&path).display()));
}

/// Whether `program` is in `PATH`; reports a skip where it is not.
#[track_caller]
pub fn has_program(program: &str) -> bool {
    let found = env::var_os("PATH")
        .is_some_and(|path| env::split_paths(&path).any(|directory| directory.join(program).is_file()));
    if !found {
        skip(Need::Program, format_args!("{program} is not installed"));
    }
    found
}

/// The package and the test, as libtest names its thread; with one thread for all tests, the place of the call.
fn test_name(caller: &Location<'_>) -> String {
    let package = env::var("CARGO_PKG_NAME").unwrap_or_default();
    match thread::current().name() {
        Some(name) if name != "main" => format!("{package} {name}"),
        _ => format!("{package} {}:{}", caller.file(), caller.line()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_comes_back_from_its_line_once_and_on_one_line() {
        let skip = |name: &str| Skip {
            name: name.to_owned(),
            need: Need::Tracefs.word().to_owned(),
            reason: "no\ttracefs\nhere ".to_owned(),
        };
        let text = [skip("b"), skip("a"), skip("b")].map(|skip| skip.line()).concat();
        let back = Skip::all(&text);
        let expected = |name: &str| Skip { reason: "no tracefs here".to_owned(), ..skip(name) };
        assert_eq!(back, [expected("a"), expected("b")]);
        assert_eq!(Skip::all("no columns\n"), []);
    }

    #[test]
    fn the_words_differ() {
        let words: std::collections::BTreeSet<&str> = Need::ALL.map(Need::word).into_iter().collect();
        assert_eq!(words.len(), Need::ALL.len());
    }

    #[test]
    fn a_report_names_the_test() {
        let name = test_name(Location::caller());
        assert!(name.ends_with("tests::a_report_names_the_test") || name.contains("lib.rs:"), "{name}");
    }
}
