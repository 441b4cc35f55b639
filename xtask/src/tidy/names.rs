//! Rules on names: those that were replaced by the field's own stay away, and one name means one type.

use super::Violation;
use super::rust::{self, Kind, Token};
use super::tree::Tree;
use std::collections::BTreeMap;

/// Names of types and modules that were replaced, and by what.
const RETIRED: &[(&str, &str)] = &[
    ("Ahead", "ReadAhead"),
    ("Canvas", "intervals"),
    ("Chronicle", "SpikeLog"),
    ("Draft", "a staged edit"),
    ("Feed", "DecodePool"),
    ("Knob", "tunable"),
    ("Lanes", "Merger"),
    ("Leaps", "ClockJumps"),
    ("Occupant", "RunningThread"),
    ("Outlets", "Exports"),
    ("Remark", "VerdictNote"),
    ("Retold", "WithInfo"),
    ("Stretch", "Slice"),
    ("Wish", "desired setting"),
    ("Wishes", "desired settings"),
    ("Witness", "IrqsOffSample"),
    ("ahead", "read_ahead"),
    ("beyond", "tail"),
    ("canvas", "intervals"),
    ("chronicle", "spike_log"),
    ("crew", "threads"),
    ("draft", "staged"),
    ("feed", "decode_pool"),
    ("habits", "behaviours"),
    ("held_up", "gaps"),
    ("keeper", "supervisor"),
    ("knobs", "tunables"),
    ("lanes", "merger"),
    ("people", "actors"),
    ("settle", "checkpoint"),
    ("wish", "desired setting"),
    ("workings", "syscalls, faults, locks"),
];

/// The same for words that mean something else outside of tuning: a table has cells.
const RETIRED_IN_TUNING: &[(&str, &str)] =
    &[("Cell", "target"), ("cell", "target"), ("Draft", "a staged edit")];

/// The crates of tuning.
const TUNING: [&str; 3] = ["crates/bootloader", "crates/profiles", "crates/tuning"];

/// Names that are still in use, by crate; an entry goes when its last use goes, and none comes back.
const REMAINING: &[(&str, &str)] = &[("crates/ledger", "Canvas"), ("crates/ledger", "Occupant")];

/// Public types of one name in several crates, with the reason why each crate has its own.
const SHARED: &[(&str, &str)] = &[];

/// Public types of one name in several crates that are still to be renamed; none is added.
const DOUBLED: &[&str] = &[
    "Capture",
    "Choice",
    "Comparison",
    "Finding",
    "Guest",
    "Kernel",
    "Kind",
    "Late",
    "Limit",
    "Lock",
    "Machine",
    "Part",
    "Progress",
    "Record",
    "Report",
    "Run",
    "Session",
    "State",
    "Store",
    "Verdict",
];

/// A type or a module, as a source declares it.
struct Declared<'a> {
    path: &'a str,
    line: usize,
    name: &'a str,
    /// A `pub struct` or `pub enum`, whatever the module's own reach.
    is_public_type: bool,
}

/// No replaced name is declared, but where it remains.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = retired(tree, REMAINING);
    found.extend(doubled(tree, DOUBLED));
    found
}

/// All that is left to rename.
pub(super) fn list(tree: &Tree) -> Vec<Violation> {
    let mut found = retired(tree, &[]);
    found.extend(doubled(tree, &[]));
    found
}

fn retired(tree: &Tree, remaining: &[(&str, &str)]) -> Vec<Violation> {
    let mut found = Vec::new();
    for declared in declared(tree) {
        let dir = crate_of(declared.path);
        let in_tuning = RETIRED_IN_TUNING.iter().filter(|_| TUNING.contains(&dir));
        let mut retired = RETIRED.iter().chain(in_tuning);
        let Some((_, instead)) = retired.find(|(name, _)| *name == declared.name) else { continue };
        if !remaining.contains(&(dir, declared.name)) {
            let wrong = format!("the name `{}` was replaced", declared.name);
            found.push(Violation::at(declared.path, declared.line, wrong, format!("use the word {instead}")));
        }
    }
    found
}

/// Public types that share their name with one of another crate.
fn doubled(tree: &Tree, remaining: &[&str]) -> Vec<Violation> {
    let mut by_name: BTreeMap<&str, Vec<Declared<'_>>> = BTreeMap::new();
    for declared in
        declared(tree).into_iter().filter(|declared| declared.is_public_type && !is_document(declared.path))
    {
        by_name.entry(declared.name).or_default().push(declared);
    }
    let mut found = Vec::new();
    by_name.retain(|name, _| !remaining.contains(name) && !SHARED.iter().any(|(known, _)| known == name));
    for (name, declared) in by_name {
        let mut crates: Vec<&str> = declared.iter().map(|one| crate_of(one.path)).collect();
        crates.dedup();
        if let [first, .., _] = crates.as_slice() {
            let todo = "rename one, or add the name to SHARED in xtask/src/tidy/names.rs with the reason";
            let others: Vec<&str> = crates.iter().filter(|other| *other != first).copied().collect();
            let wrong = format!("`{name}` is a type of {} as well", others.join(", "));
            found.push(Violation::at(declared[0].path, declared[0].line, wrong, todo));
        }
    }
    found
}

/// The members of a JSON document bear the names of what they mirror.
fn is_document(path: &str) -> bool {
    path.starts_with("crates/report/src/") && path.contains("/json")
}

/// What the crates' sources declare, their tests apart, in the order of their paths.
fn declared(tree: &Tree) -> Vec<Declared<'_>> {
    let sources = tree.texts(".rs").filter(|(path, _)| path.contains("/src/") && !path.starts_with("xtask/"));
    sources.flat_map(|(path, source)| in_file(path, source)).collect()
}

fn in_file<'a>(path: &'a str, source: &'a str) -> Vec<Declared<'a>> {
    let tokens = rust::tokens(source);
    let tokens = rust::without_tests(&tokens);
    let mut found = Vec::new();
    for (at, pair) in tokens.windows(2).enumerate() {
        let is_type = ["struct", "enum", "union", "trait", "type"].iter().any(|word| pair[0].is(word));
        if (is_type || pair[0].is("mod")) && pair[1].kind == Kind::Word {
            let public = at.checked_sub(1).is_some_and(|before| tokens[before].is("pub"));
            let is_public_type = public && ["struct", "enum"].iter().any(|word| pair[0].is(word));
            let Token { text: name, line, .. } = pair[1];
            found.push(Declared { path, line, name, is_public_type });
        }
    }
    found
}

/// `crates/base` of `crates/base/src/cpu.rs`.
fn crate_of(path: &str) -> &str {
    path.split_once("/src/").map_or(path, |(dir, _)| dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retired_names_are_seen_as_types_and_modules_only() {
        for (source, count) in [
            ("pub struct Knob; mod wish; enum Canvas {} struct Cell;", 3),
            ("// struct Knob\nfn wish() {} let knob = \"struct Knob\"; struct Knobs;", 0),
            ("#[cfg(test)] mod tests { struct Knob; }", 0),
        ] {
            let tree = Tree::of(&[("crates/a/src/lib.rs", source)]);
            assert_eq!(retired(&tree, &[]).len(), count, "{source}");
        }
    }

    #[test]
    fn a_name_of_two_crates_is_seen_once() {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "pub struct Line; pub enum Kind {} pub(crate) struct Own;"),
            ("crates/a/src/b.rs", "pub struct Kind;"),
            ("crates/b/src/lib.rs", "pub enum Line {} pub struct Own; fn f(line: Line) {}"),
        ]);
        let found = doubled(&tree, &[]);
        assert_eq!(found.len(), 1);
        assert!(found[0].wrong.contains("`Line`") && found[0].wrong.contains("crates/b"), "{found:?}");
    }

    #[test]
    fn what_remains_is_a_name_that_was_replaced() {
        for (_, name) in REMAINING {
            let mut retired = RETIRED.iter().chain(RETIRED_IN_TUNING);
            assert!(retired.any(|(retired, _)| retired == name), "{name}");
        }
    }
}
