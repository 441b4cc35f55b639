//! Rule: every invariant that ARCHITECTURE.md states is held by a test that exists.
//!
//! An invariant is a paragraph that begins with `**Invariant` and ends in ``Held by: `path::to::a_test` ``, or
//! several of those, or `` `cargo xtask tidy` `` for what is checked here.

use super::Violation;
use super::rust::{self, Kind, Token};
use super::tree::Tree;
use std::collections::BTreeSet;

const FILE: &str = "ARCHITECTURE.md";
const TIDY: &str = "cargo xtask tidy";

/// Looks up the tests that hold each invariant.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    // Whether the file is there at all is for the rule on maps to check.
    let Some(text) = tree.text(FILE) else { return Vec::new() };
    let invariants = invariants(text);
    if invariants.is_empty() {
        let todo = "begin each invariant's paragraph with **Invariant";
        return vec![Violation::of(FILE, "no invariant is stated", todo)];
    }
    let tests: BTreeSet<&str> = tree.texts(".rs").flat_map(|(_, source)| tests(source)).collect();
    let mut found = Vec::new();
    for (line, paragraph) in invariants {
        let holders = holders(&paragraph);
        if holders.is_empty() {
            let todo = "end it in: Held by: `path::to::a_test`";
            found.push(Violation::at(FILE, line, "the invariant names no test that holds it", todo));
        }
        for holder in holders.into_iter().filter(|holder| *holder != TIDY) {
            let name = holder.rsplit("::").next().unwrap_or(holder);
            if !tests.contains(name) {
                let todo = "write the test, or name the one that holds it";
                found.push(Violation::at(FILE, line, format!("no test is called `{name}`"), todo));
            }
        }
    }
    found
}

/// The paragraphs that state an invariant, each on one line, with the line they begin in.
fn invariants(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        let prose = line.trim_start_matches(|c: char| c.is_ascii_digit() || "-. ".contains(c));
        let begins = prose.starts_with("**Invariant");
        if begins {
            found.push((number + 1, String::new()));
        }
        inside = begins || (inside && !line.trim().is_empty());
        if let Some((_, paragraph)) = found.last_mut().filter(|_| inside) {
            paragraph.push_str(line.trim());
            paragraph.push(' ');
        }
    }
    found
}

/// What stands in backticks after "Held by:".
fn holders(paragraph: &str) -> Vec<&str> {
    match paragraph.split_once("Held by:") {
        Some((_, after)) => after.split('`').skip(1).step_by(2).collect(),
        None => Vec::new(),
    }
}

/// The names of the functions under `#[test]`.
fn tests(source: &str) -> Vec<&str> {
    let tokens = rust::tokens(source);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        if rust::starts_with(&tokens[at..], &["#", "[", "test", "]"]) {
            found.extend(next_function(&tokens[at..]));
        }
    }
    found
}

fn next_function<'a>(tokens: &[Token<'a>]) -> Option<&'a str> {
    let pair = tokens.windows(2).find(|pair| pair[0].is("fn") && pair[1].kind == Kind::Word)?;
    Some(pair[1].text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "fn helper() {}\n#[test]\nfn tiles_exactly() {}\nproptest! { #[test] #[should_panic] fn never_panics(x in 0..1) {} }\n// #[test] fn gone() {}\n";

    fn faults(architecture: &str) -> Vec<String> {
        let tree = Tree::of(&[(FILE, architecture), ("crates/a/src/lib.rs", SOURCE)]);
        check(&tree).into_iter().map(|violation| violation.to_string()).collect()
    }

    #[test]
    fn only_functions_under_test_are_tests() {
        assert_eq!(tests(SOURCE), ["tiles_exactly", "never_panics"]);
    }

    #[test]
    fn an_invariant_needs_tests_that_exist() {
        for (text, count) in [
            ("**Invariant 1.** It tiles.\nHeld by: `a::tiles_exactly`, `never_panics`.\n", 0),
            ("**Invariant: pure.** No I/O. Held by: `cargo xtask tidy`\n", 0),
            ("- **Invariant.** x\n\nHeld by: `tiles_exactly`\n", 1),
            ("**Invariant.** x Held by: `a::helper` and `b::gone`\n", 2),
            ("**Invariant.** x Held by: `tiles_exactly`\n**Invariant.** y\n", 1),
            ("Nothing is stated, though the Invariant is spoken of.\n", 1),
        ] {
            assert_eq!(faults(text).len(), count, "{text}: {:?}", faults(text));
        }
    }

    #[test]
    fn the_line_of_the_invariant_is_named() {
        let found = faults("# Title\n\n**Invariant.** x Held by: `gone`\n");
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("ARCHITECTURE.md:3: no test is called `gone`"), "{found:?}");
    }
}
