//! Rules: `ledger`, `checks` and `simulate` do no I/O, so explaining a recording and a live machine is the same call.

use super::rust::{self, Kind, Token};
use super::tree::Tree;
use super::{Violation, crates};

const PURE: [&str; 3] = ["crates/ledger", "crates/checks", "crates/simulate"];

/// Modules of std that reach outside the process.
const MODULES: [&str; 6] = ["env", "fs", "io", "net", "os", "process"];
/// Crates that do.
const CRATES: [&str; 3] = ["libc", "rustix", "memmap2"];
const MACROS: [&str; 5] = ["print", "println", "eprint", "eprintln", "dbg"];
/// What a pure crate may depend on outside its tests.
const ALLOWED: [&str; 11] = [
    "whylate-base",
    "whylate-events",
    "whylate-host",
    "whylate-ledger",
    "whylate-stats",
    "fastrand",
    "rustc-hash",
    "serde",
    // Tables of names. It makes calls as well, which are unsafe, and so forbidden here.
    "syscalls",
    "thiserror",
    "toml",
];

const TODO: &str = "take the data as an argument and let the caller do the I/O";

/// No I/O in their sources, tests apart.
pub(super) fn sources(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, source) in tree.texts(".rs").filter(|(path, _)| is_pure(path)) {
        let tokens = rust::tokens(source);
        for (line, what) in io(&rust::without_tests(&tokens)) {
            found.push(Violation::at(path, line, format!("I/O in a pure crate: {what}"), TODO));
        }
    }
    found
}

/// No dependency that is not known to be free of I/O.
pub(super) fn dependencies(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for of in crates::all(tree).iter().filter(|of| PURE.contains(&of.dir)) {
        let used = of.dependencies.iter().filter(|used| !used.dev && !ALLOWED.contains(&used.package));
        for used in used {
            let wrong = format!("{} depends on {}, which is not known to do no I/O", of.name, used.package);
            let todo = "leave it out, or add it to ALLOWED in xtask/src/tidy/pure.rs if it is pure";
            found.push(Violation::at(of.path, used.line, wrong, todo));
        }
    }
    found
}

/// In the sources of a pure crate, and not a file of tests.
fn is_pure(path: &str) -> bool {
    PURE.iter().any(|dir| {
        path.strip_prefix(dir)
            .and_then(|rest| rest.strip_prefix("/src/"))
            .is_some_and(|rest| !rest.split('/').any(|part| matches!(part, "tests" | "tests.rs")))
    })
}

fn io(tokens: &[Token<'_>]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Word) {
        let rest = &tokens[at..];
        if token.is("std") {
            let modules = std_modules(rest).into_iter().filter(|module| MODULES.contains(&module.text));
            found.extend(modules.map(|module| (module.line, format!("std::{}", module.text))));
        } else if CRATES.contains(&token.text) && rust::starts_with(&rest[1..], &[":", ":"]) {
            found.push((token.line, token.text.to_owned()));
        } else if MACROS.contains(&token.text) && rest.get(1).is_some_and(|next| next.is("!")) {
            found.push((token.line, format!("{}!", token.text)));
        } else if token.is("File") && rust::starts_with(&rest[1..], &[":", ":"]) {
            found.push((token.line, "File".to_owned()));
        }
    }
    found
}

/// The modules named right below `std`: the one of a path, or those of a `use std::{..}` group.
fn std_modules<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    if !rust::starts_with(tokens, &["std", ":", ":"]) {
        return Vec::new();
    }
    let rest = &tokens[3..];
    if !rust::starts_with(rest, &["{"]) {
        return rest.first().copied().into_iter().collect();
    }
    let mut depth = 0usize;
    let mut modules = Vec::new();
    for pair in rest.windows(2) {
        match pair[0].text {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        if depth == 1 && (pair[0].is("{") || pair[0].is(",")) && pair[1].kind == Kind::Word {
            modules.push(pair[1]);
        }
    }
    modules
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str) -> Vec<String> {
        io(&rust::without_tests(&rust::tokens(source))).into_iter().map(|(_, what)| what).collect()
    }

    #[test]
    fn io_is_seen_in_every_form_of_path() {
        for (source, expected) in [
            ("use std::fs;", vec!["std::fs"]),
            ("let x = std::fs::read(p);", vec!["std::fs"]),
            ("use std::{fmt, io::{self, Read}, collections::{HashMap, process}};", vec!["std::io"]),
            ("use std::{net, process::Command};", vec!["std::net", "std::process"]),
            ("println!(\"x\"); eprintln!();", vec!["println!", "eprintln!"]),
            ("rustix::time::x(); libc::getpid();", vec!["rustix", "libc"]),
            ("File::open(p)", vec!["File"]),
        ] {
            assert_eq!(found(source), expected, "{source}");
        }
    }

    #[test]
    fn what_only_looks_like_io_is_fine() {
        for source in [
            "// std::fs\nlet a = \"println!\";",
            "use std::{fmt, collections::{BTreeMap}}; use std::fmt::Write;",
            "let fs = 1; self.process(io); Cause::BlockIo; fn print(x: u8) {}",
            "#[cfg(test)] mod tests { use std::fs; fn f() { println!(); } }",
        ] {
            assert_eq!(found(source), Vec::<String>::new(), "{source}");
        }
    }

    #[test]
    fn only_the_sources_of_pure_crates_are_meant() {
        assert!(is_pure("crates/ledger/src/lib.rs") && is_pure("crates/checks/src/rules/a.rs"));
        for path in ["crates/ledger/tests/a.rs", "crates/ledger/src/tests.rs", "crates/cli/src/main.rs"] {
            assert!(!is_pure(path), "{path}");
        }
    }

    #[test]
    fn dependencies_must_be_known_to_be_pure_but_those_of_tests() {
        let manifest = "[package]\nname = \"whylate-ledger\"\n[dependencies]\nwhylate-base.workspace = true\nlibc = \"0.2\"\n[dev-dependencies]\nwhylate-intake.workspace = true\n";
        let found = dependencies(&Tree::of(&[("crates/ledger/Cargo.toml", manifest)]));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].line, Some(5));
    }
}
