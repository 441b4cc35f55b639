//! Rule: every crate that is published makes a complete package: it describes itself, and takes no file from outside.

use super::Violation;
use super::crates::{self, Crate};
use super::manifest;
use super::rust::{self, Kind};
use super::tree::Tree;

/// Crates that are for this repository alone.
const UNPUBLISHED: [&str; 5] =
    ["whylate-fuzz", "whylate-inject", "whylate-python", "whylate-testing", "xtask"];

/// What crates.io shows, and searches.
const KEYS: [&str; 5] = ["description", "license", "repository", "keywords", "categories"];

/// Checks manifests, READMEs and the files that sources include.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    crates::all(tree).iter().flat_map(|of| of_crate(tree, of)).collect()
}

fn of_crate(tree: &Tree, of: &Crate<'_>) -> Vec<Violation> {
    let published = manifest::value(of.manifest, "package", "publish") != Some("false");
    if published == UNPUBLISHED.contains(&of.name) {
        let todo = "make `publish = false` and UNPUBLISHED in xtask/src/tidy/packages.rs agree";
        return vec![Violation::of(of.path, format!("is {} to be published?", of.name), todo)];
    }
    if !published {
        return Vec::new();
    }
    let mut found = Vec::new();
    for key in KEYS {
        let own = manifest::value(of.manifest, "package", key);
        if own.or(manifest::value(of.manifest, &format!("package.{key}"), "workspace")).is_none() {
            found.push(Violation::of(of.path, format!("[package] has no {key}"), "add it"));
        }
    }
    let readme = format!("{}/README.md", of.dir);
    match tree.text(&readme) {
        Some(text) => found.extend(undocumented_features(of, &readme, text)),
        None if manifest::value(of.manifest, "package", "readme").is_some() => {}
        None => found.push(Violation::of(&readme, "missing", "say what the crate is for, with its features")),
    }
    found.extend(outside(tree, of));
    found
}

fn undocumented_features(of: &Crate<'_>, readme: &str, text: &str) -> Vec<Violation> {
    let features = manifest::entries(of.manifest).into_iter().filter(|entry| entry.section == "features");
    let unnamed =
        features.filter(|entry| entry.key != "default" && !text.contains(&format!("`{}`", entry.key)));
    let violations = unnamed.map(|entry| {
        Violation::of(readme, format!("does not name the feature `{}`", entry.key), "say what it switches on")
    });
    violations.collect()
}

/// The files that the crate's sources include and its package does not have.
fn outside(tree: &Tree, of: &Crate<'_>) -> Vec<Violation> {
    let src = format!("{}/src/", of.dir);
    let mut found = Vec::new();
    for (path, source) in tree.texts(".rs").filter(|(path, _)| path.starts_with(&src)) {
        let tokens = rust::tokens(source);
        let tokens = rust::without_tests(&tokens);
        for (at, token) in tokens.iter().enumerate() {
            if !matches!(token.text, "include_str" | "include_bytes") || token.kind != Kind::Word {
                continue;
            }
            let Some(included) = tokens[at..].iter().take(8).find(|token| token.kind == Kind::String) else {
                continue;
            };
            let depth = path[of.dir.len() + 1..].matches('/').count();
            let up = included.text.split('/').filter(|part| *part == "..").count();
            // In a macro, the path is relative to the file that calls it: the package has a directory of that name.
            let below =
                format!("{}/{}", of.dir, included.text.trim_start_matches("../").trim_end_matches('/'));
            if up > depth && !tree.has(&below) {
                let wrong = format!("includes {}, which is outside of the package", included.text);
                found.push(Violation::at(path, token.line, wrong, format!("move the file below {}", of.dir)));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPLETE: &str = "[package]\nname = \"whylate-base\"\ndescription = \"x\"\nlicense.workspace = true\n\
        repository.workspace = true\nkeywords = [\"x\"]\ncategories = [\"y\"]\n[features]\nfast = []\n";

    #[test]
    fn a_complete_package_is_fine() {
        let source =
            "include_str!(\"../docs/x.md\"); #[cfg(test)] mod tests { include_str!(\"../../../x\") }";
        let tree = Tree::of(&[
            ("crates/base/Cargo.toml", COMPLETE),
            ("crates/base/README.md", "- `fast`: faster\n"),
            ("crates/base/src/lib.rs", source),
        ]);
        assert_eq!(check(&tree), []);
    }

    #[test]
    fn what_is_missing_or_outside_is_named() {
        let source = "include_str!(concat!(\"../../../docs/\", $code, \".md\"));";
        let tree = Tree::of(&[
            ("crates/base/Cargo.toml", &COMPLETE.replace("description = \"x\"\n", "")),
            ("crates/base/README.md", "nothing\n"),
            ("crates/base/src/deep/file.rs", source),
        ]);
        assert_eq!(check(&tree).len(), 3, "{:?}", check(&tree));
        assert_eq!(check(&Tree::of(&[("crates/base/Cargo.toml", COMPLETE)])).len(), 1, "no README");
    }

    #[test]
    fn what_is_not_published_says_so() {
        let manifest = |more: &str| format!("[package]\nname = \"xtask\"\n{more}");
        assert_eq!(check(&Tree::of(&[("xtask/Cargo.toml", &manifest("publish = false\n"))])), []);
        assert_eq!(check(&Tree::of(&[("xtask/Cargo.toml", &manifest(""))])).len(), 1);
        let base = COMPLETE.replace("[features]", "publish = false\n[features]");
        assert_eq!(check(&Tree::of(&[("crates/base/Cargo.toml", &base)])).len(), 1);
    }
}
