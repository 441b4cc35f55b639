//! What the README shows is what the program prints: each of its blocks that begins with
//! `$ whylate ARGUMENTS` holds that run's output.
//!
//! `WHYLATE_BLESS=1 cargo test -p whylate readme` writes the outputs anew.

use crate::support::run::command;
use std::fs;
use std::path::Path;
use whylate_ledger::{Cause, CauseGroup};

/// A block of code in a Markdown text: where its output is, and the arguments it is the output of.
struct Shown<'a> {
    arguments: Vec<&'a str>,
    output: std::ops::Range<usize>,
}

fn shown(text: &str) -> Vec<Shown<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text.get(at..).and_then(|rest| rest.find("```\n$ whylate ")) {
        let line = at + start + "```\n".len();
        let output = line + text[line..].find('\n').expect("the line ends") + 1;
        let end = output + text[output..].find("```").expect("the block ends");
        let arguments = text[line..output].split_whitespace().skip(2).collect();
        found.push(Shown { arguments, output: output..end });
        at = end + "```".len();
    }
    found
}

#[test]
fn the_readme_shows_what_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = root.join("README.md");
    let mut text = fs::read_to_string(&path).expect("the README");
    let before = text.clone();
    let blocks = shown(&before);
    assert!(!blocks.is_empty(), "it shows no run at all");
    // From the last to the first: a new output moves only what is behind it.
    for Shown { arguments, output } in blocks.into_iter().rev() {
        let run = command().current_dir(&root).args(&arguments).output().expect("the program starts");
        let printed = String::from_utf8(run.stdout).expect("the program writes UTF-8");
        assert_eq!(String::from_utf8_lossy(&run.stderr), "", "whylate {arguments:?}");
        assert!(!printed.contains("```"), "whylate {arguments:?} cannot be shown in a block");
        text.replace_range(output, &printed);
    }
    if text != before && std::env::var_os("WHYLATE_BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, text).expect("the README is written");
        return;
    }
    for (line, (shown, printed)) in before.lines().zip(text.lines()).enumerate() {
        assert_eq!(shown, printed, "README.md:{}: WHYLATE_BLESS=1 writes it anew", line + 1);
    }
    assert_eq!(before, text);
}

#[test]
fn the_readme_lists_every_cause_in_its_group() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(readme).expect("the README");
    for group in CauseGroup::ALL {
        let codes = Cause::ALL.into_iter().filter(|cause| cause.group() == group).map(Cause::code);
        let line = format!("| {} | {} |", group.title(), codes.collect::<Vec<_>>().join(", "));
        assert!(readme.lines().any(|shown| shown == line), "README.md lacks the line\n{line}");
    }
}
