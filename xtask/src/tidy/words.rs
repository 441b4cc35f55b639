//! Rule: documents and messages do without the words that CONTRIBUTING.md's section on sentences rules out.

use super::Violation;
use super::rust::{self, Kind};
use super::tree::Tree;

/// Threads, CPUs and values are things, and a report shows.
const WORDS: [(&str, &str); 7] = [
    ("nobody", "`no thread`, `no program`, `no user`"),
    ("whoever", "`the thread that`, `the user`"),
    ("somebody", "`another thread`, `another program`"),
    ("is said", "`is reported`, `is shown`"),
    ("is told", "`is reported`, `is shown`"),
    ("as wished", "`as desired`"),
    ("are told", "`are reported`, `are shown`"),
];

/// Documents that quote other programs, or the past.
const FOREIGN: [&str; 3] = ["/fixtures/", "/corpus/", "LICENSE"];

/// Looks through documents and the string literals of sources.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text) in tree.texts("").filter(|(path, _)| !FOREIGN.iter().any(|part| path.contains(part))) {
        if path.ends_with(".md") {
            for (number, line) in text.lines().enumerate() {
                found.extend(in_text(path, number + 1, line));
            }
        } else if path.ends_with(".rs") && !path.starts_with("xtask/src/tidy/") {
            let tokens = rust::tokens(text);
            for token in tokens.iter().filter(|token| token.kind == Kind::String) {
                found.extend(in_text(path, token.line, token.text));
            }
        }
    }
    found
}

fn in_text(path: &str, line: usize, text: &str) -> Vec<Violation> {
    let text = text.to_lowercase();
    let used = WORDS.iter().filter(|(word, _)| has_word(&text, word));
    used.map(|(word, instead)| Violation::at(path, line, format!("`{word}`"), format!("write {instead}")))
        .collect()
}

/// Whether the words stand in the text, and not as a part of longer ones. In backticks or quotes it is a word that is
/// spoken of.
fn has_word(text: &str, word: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '`' | '"' | '/' | '-');
    text.match_indices(word).any(|(at, _)| {
        let after = &text[at + word.len()..];
        // `told apart` is plain English; a whole literal that is the word is a user's name.
        !text[..at].ends_with(inside)
            && !after.starts_with(inside)
            && !after.starts_with(" apart")
            && text != word
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_documents_and_string_literals() {
        for (path, text, count) in [
            ("README.md", "Nobody is late.\nIt is said so.\n", 2),
            ("README.md", "The user `nobody` is saidable.\n", 0),
            ("crates/a/src/lib.rs", "// nobody\nfn nobody() { f(\"nobody waits\") }", 1),
            ("docs/a.md", "A format is told apart by content.\n", 0),
            ("crates/a/src/lib.rs", "user(\"nobody\")", 0),
            ("crates/a/tests/fixtures/x.md", "nobody knows\n", 0),
        ] {
            assert_eq!(check(&Tree::of(&[(path, text)])).len(), count, "{path}: {text}");
        }
    }
}
