//! `cargo xtask tidy`: the invariants that can be checked by reading the tree.
//!
//! Each rule is a function from the tree to what breaks it. A rule sees the files that a clone would have,
//! nothing else of the machine.

mod causes;
mod circles;
mod crates;
mod floors;
mod invariants;
mod manifest;
mod map;
mod names;
mod packages;
mod pure;
mod python_lock;
mod rust;
mod shape;
mod text;
mod tree;
mod unsafety;
mod violation;
mod words;

use anyhow::Result;
use std::fmt;
use std::path::Path;
use tree::Tree;
use violation::Violation;

/// A rule.
type Rule = fn(&Tree) -> Vec<Violation>;

const RULES: &[Rule] = &[
    unsafety::only_in_sys,
    unsafety::lints,
    floors::check,
    pure::sources,
    pure::dependencies,
    causes::pages,
    shape::length,
    shape::header,
    shape::leftovers,
    text::whitespace,
    text::size_and_paths,
    map::check,
    invariants::check,
    packages::check,
    python_lock::check,
    circles::check,
    names::check,
    words::check,
];

/// Prints every violation to standard output; `true` if there is none.
///
/// # Errors
/// If the tree cannot be read.
pub(crate) fn run(root: &Path) -> Result<bool> {
    let tree = Tree::read(root)?;
    let mut violations: Vec<Violation> = RULES.iter().flat_map(|rule| rule(&tree)).collect();
    violations.sort();
    for violation in &violations {
        println!("{violation}");
    }
    println!("tidy: {} files, {} violations", tree.len(), violations.len());
    Ok(violations.is_empty())
}

/// The paths of all Rust sources, from the root.
///
/// # Errors
/// If the tree cannot be read.
pub(crate) fn rust_files(root: &Path) -> Result<Vec<String>> {
    Ok(Tree::read(root)?.texts(".rs").map(|(path, _)| path.to_owned()).collect())
}

/// Lists what one rule finds, in more words than as a violation.
#[derive(clap::Subcommand)]
pub(crate) enum List {
    /// List the circles of modules, with the names that tie them
    Circles {
        /// The crate to look at, such as crates/ledger; all without it
        #[arg(default_value = "")]
        dir: String,
    },
    /// List names that were replaced, and public types of one name in several crates
    Names,
    /// List the words that documents and messages do without
    Words {
        /// Only files below this directory or of this path
        #[arg(default_value = "")]
        path: String,
    },
}

impl List {
    /// Prints the list to standard output; `true` if it is empty.
    ///
    /// # Errors
    /// If the tree cannot be read.
    pub(crate) fn run(&self, root: &Path) -> Result<bool> {
        let tree = Tree::read(root)?;
        match self {
            List::Circles { dir } => Ok(listed(&circles::of(&tree, dir), "circles of modules")),
            List::Names => Ok(listed(&names::list(&tree), "names to replace")),
            List::Words { path } => {
                let mut found = words::check(&tree);
                found.retain(|violation| violation.path.starts_with(path.as_str()));
                Ok(listed(&found, "words to replace"))
            }
        }
    }
}

/// Prints what was found and how much that is; `true` if it is nothing.
fn listed<T: fmt::Display>(found: &[T], what: &str) -> bool {
    for one in found {
        println!("{one}");
    }
    println!("tidy: {} {what}", found.len());
    found.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every rule must find a violation in a tree that breaks them all, so none can go dead unseen.
    #[test]
    fn no_rule_is_silent_on_a_tree_that_breaks_everything() {
        let long = "let x = 1;\n".repeat(600);
        let ledger = format!("{long}fn f() {{ std::fs::read(todo!()) }}  \n");
        let tree = Tree::of(&[
            ("Cargo.toml", "[workspace.lints.rust]\nunsafe_code = \"allow\"\n"),
            (
                "crates/ledger/Cargo.toml",
                "[package]\nname = \"whylate-ledger\"\n[dependencies]\nwhylate-report.workspace = true\nlibc = \"0.2\"\n",
            ),
            ("crates/ledger/src/lib.rs", &ledger),
            ("crates/base/Cargo.toml", "[package]\nname = \"whylate-base\"\n"),
            ("crates/base/src/lib.rs", "mod b; mod knobs;"),
            ("crates/base/src/knobs.rs", "use crate::b::B; pub struct Knob;"),
            ("crates/base/src/b.rs", "use crate::knobs::Knob; pub struct B;"),
            ("crates/ledger/src/cause.rs", "fn code() { unsafe { \"irq\" } }"),
            ("ARCHITECTURE.md", "**Invariant** nothing holds. Held by: `a::b`\n"),
            ("README.md", "[x](missing.md) nobody\n"),
            ("python/Cargo.toml", "[package]\nname = \"whylate-python\"\n"),
        ]);
        let size = Tree::of(&[("x.md", &"0123456789abcde\n".repeat(40_000))]);
        for (number, rule) in RULES.iter().enumerate() {
            assert!(!rule(&tree).is_empty() || !rule(&size).is_empty(), "rule {number} found nothing");
        }
    }
}
