//! Rules: `unsafe` stands only in `crates/sys`, and the lints that see to it are in force.

use super::crates::{self, Crate};
use super::tree::Tree;
use super::{Violation, manifest, rust};

const SYS: &str = "crates/sys";

/// No `unsafe` in any source outside `crates/sys`: benches, tests and xtask included.
pub(super) fn only_in_sys(tree: &Tree) -> Vec<Violation> {
    let outside = tree.texts(".rs").filter(|(path, _)| !path.starts_with("crates/sys/"));
    let mut found = Vec::new();
    for (path, source) in outside {
        for token in rust::tokens(source).iter().filter(|token| token.is("unsafe")) {
            let todo = "wrap the call in crates/sys with a safe function";
            found.push(Violation::at(path, token.line, "`unsafe` outside crates/sys", todo));
        }
    }
    found
}

/// The workspace forbids unsafe code, every crate takes the workspace's lints, and sys must document its own.
pub(super) fn lints(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    let root = tree.text("Cargo.toml").unwrap_or_default();
    if manifest::value(root, "workspace.lints.rust", "unsafe_code") != Some("forbid") {
        let todo = "set unsafe_code = \"forbid\" in [workspace.lints.rust]";
        found.push(Violation::of("Cargo.toml", "the workspace does not forbid unsafe code", todo));
    }
    found.extend(crates::all(tree).iter().filter_map(of_crate));
    found
}

fn of_crate(of: &Crate<'_>) -> Option<Violation> {
    // A workspace of its own, such as the fuzz targets, is no part of what users get; what a fuzzer calls is
    // `unsafe` by its nature.
    if of.manifest.contains("[workspace]") {
        return None;
    }
    if of.dir != SYS {
        let inherits = manifest::value(of.manifest, "lints", "workspace") == Some("true");
        return (!inherits).then(|| {
            let wrong = format!("{} does not take the workspace's lints", of.name);
            Violation::of(of.path, wrong, "add [lints] workspace = true")
        });
    }
    let documented = manifest::value(of.manifest, "lints.clippy", "undocumented_unsafe_blocks");
    (documented != Some("deny")).then(|| {
        let todo = "set undocumented_unsafe_blocks = \"deny\" in [lints.clippy]";
        Violation::of(of.path, "sys does not deny unsafe blocks without a SAFETY comment", todo)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_is_seen_in_code_only_and_outside_sys_only() {
        let tree = Tree::of(&[
            ("crates/sys/src/lib.rs", "unsafe { x() }"),
            ("crates/base/src/lib.rs", "// unsafe\nlet a = \"unsafe\";\n#![forbid(unsafe_code)]\n"),
            ("crates/base/tests/t.rs", "fn f() {\n    unsafe { x() }\n}\n"),
        ]);
        let found = only_in_sys(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].path.as_str(), found[0].line), ("crates/base/tests/t.rs", Some(2)));
    }

    #[test]
    fn the_lints_must_be_in_force_everywhere() {
        let good = Tree::of(&[
            ("Cargo.toml", "[workspace.lints.rust]\nunsafe_code = \"forbid\"\n"),
            ("crates/base/Cargo.toml", "[package]\nname = \"whylate-base\"\n[lints]\nworkspace = true\n"),
            (
                "crates/sys/Cargo.toml",
                "[package]\nname = \"whylate-sys\"\n[lints.clippy]\nundocumented_unsafe_blocks = \"deny\"\n",
            ),
        ]);
        assert_eq!(lints(&good), []);
        let bad = Tree::of(&[
            ("Cargo.toml", "[workspace.lints.rust]\nunsafe_code = \"deny\"\n"),
            ("crates/base/Cargo.toml", "[package]\nname = \"whylate-base\"\n"),
            ("crates/sys/Cargo.toml", "[package]\nname = \"whylate-sys\"\n[lints]\nworkspace = true\n"),
        ]);
        assert_eq!(lints(&bad).len(), 3);
    }
}
