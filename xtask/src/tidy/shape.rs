//! Rules on single source files: not too long, introduced by their first line, nothing left half-done.

use super::Violation;
use super::rust;
use super::tree::Tree;

/// Past this many lines a module wants a seam.
const LINES: usize = 500;
/// Past this many no exception helps.
const MOST_LINES: usize = 700;
/// Modules that may be longer than `LINES`, each with its reason.
const EXCEPTIONS: [(&str, &str); 0] = [];

/// No module over the limit.
pub(super) fn length(tree: &Tree) -> Vec<Violation> {
    modules(tree)
        .filter_map(|(path, source)| {
            let lines = source.lines().count();
            let limit = if EXCEPTIONS.iter().any(|(known, _)| *known == path) { MOST_LINES } else { LINES };
            let wrong = format!("{lines} lines, more than {limit}");
            (lines > limit).then(|| Violation::of(path, wrong, "split it where its subject changes"))
        })
        .collect()
}

/// Every module describes in its first line what it is for.
pub(super) fn header(tree: &Tree) -> Vec<Violation> {
    modules(tree)
        .filter(|(_, source)| !source.starts_with("//! "))
        .map(|(path, _)| {
            let wrong = "the module does not begin with `//! ` and what it is for";
            Violation::at(path, 1, wrong, "say it in its first lines")
        })
        .collect()
}

/// No code left for later, no debugging left behind, no test switched off.
pub(super) fn leftovers(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, source) in tree.texts(".rs") {
        let tokens = rust::tokens(source);
        for (at, token) in tokens.iter().enumerate() {
            let rest = &tokens[at..];
            let called = rest.get(1).is_some_and(|next| next.is("!"));
            let wrong = match token.text {
                "todo" | "unimplemented" if called => format!("{}! left for later", token.text),
                "dbg" if called => "dbg! left behind".to_owned(),
                "#" if rust::starts_with(rest, &["#", "[", "ignore"]) => "a test is switched off".to_owned(),
                _ => continue,
            };
            found.push(Violation::at(path, token.line, wrong, "finish it or take it out"));
        }
    }
    found
}

/// The modules of the crates and of xtask.
fn modules(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    tree.texts(".rs").filter(|(path, _)| {
        path.starts_with("xtask/src/") || (path.starts_with("crates/") && path.contains("/src/"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_may_have_500_lines_and_not_one_more() {
        let lines = |count: usize| "//! x\n".repeat(count);
        let tree = Tree::of(&[
            ("crates/a/src/fits.rs", &lines(500)),
            ("crates/a/src/long.rs", &lines(501)),
            ("crates/a/tests/long.rs", &lines(900)),
        ]);
        let found = length(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "crates/a/src/long.rs");
    }

    #[test]
    fn a_module_begins_with_what_it_is_for() {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "//! Good.\n"),
            ("crates/a/src/bad.rs", "use x;\n//! Late.\n"),
            ("xtask/src/empty.rs", ""),
            ("crates/a/tests/any.rs", "fn f() {}\n"),
        ]);
        let paths: Vec<String> = header(&tree).into_iter().map(|violation| violation.path).collect();
        assert_eq!(paths, ["crates/a/src/bad.rs", "xtask/src/empty.rs"]);
    }

    #[test]
    fn leftovers_are_seen_in_code_and_not_in_words_about_it() {
        for (source, count) in [
            ("fn f() { todo!() }", 1),
            ("unimplemented!(\"x\"); dbg!(1);", 2),
            ("#[test]\n#[ignore = \"slow\"]\nfn f() {}", 1),
            ("// todo!()\nlet todo = \"dbg!(x)\"; ignore(todo);", 0),
        ] {
            assert_eq!(leftovers(&Tree::of(&[("crates/a/src/lib.rs", source)])).len(), count, "{source}");
        }
    }
}
