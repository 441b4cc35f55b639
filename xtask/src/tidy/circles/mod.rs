//! Rule: no circles of modules. In a crate, no two files use names of each other, be it through others.
//!
//! `mod x;` and a re-export (`pub use x::Y`) are no use; a child that uses a name defined in its parent's file
//! while the parent uses one of the child's is a circle like any other: what both need belongs below both. Tests do
//! not count.

mod components;
mod graph;
mod source;

use super::Violation;
use super::crates;
use super::rust;
use super::tree::Tree;
use graph::{Arrows, Graph};
use source::Module;
use std::collections::BTreeSet;
use std::fmt;

/// Files that cannot be understood one after the other.
pub(super) struct Circle {
    /// Sorted.
    files: Vec<String>,
    /// From, to, and the names that the first takes from the second.
    arrows: Vec<(String, String, Vec<String>)>,
}

impl fmt::Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "circle of {} modules", self.files.len())?;
        for (from, to, names) in &self.arrows {
            write!(f, "\n  {from} -> {to}: {}", names.join(", "))?;
        }
        Ok(())
    }
}

/// No two files of a crate use names of each other, directly or through other files.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let todo = "move what both need into a file below them; `cargo xtask tidy circles` lists the names";
    let circles = of(tree, "").into_iter();
    circles
        .map(|circle| {
            Violation::of(&circle.files[0], format!("in a circle: {}", circle.files.join(", ")), todo)
        })
        .collect()
}

/// Every circle of the crates below `dir`; all crates for an empty one.
pub(super) fn of(tree: &Tree, dir: &str) -> Vec<Circle> {
    let chosen =
        crates::all(tree).into_iter().filter(|of| dir.is_empty() || of.dir == dir.trim_end_matches('/'));
    chosen.flat_map(|of| of_crate(tree, of.dir)).collect()
}

fn of_crate(tree: &Tree, dir: &str) -> Vec<Circle> {
    let modules = modules(tree, dir);
    let arrows = Graph::new(&modules).arrows();
    components::circles(&arrows).into_iter().map(|files| circle(&files, &arrows)).collect()
}

fn circle(files: &[&str], arrows: &Arrows<'_>) -> Circle {
    let within = arrows.iter().filter(|((from, to), _)| files.contains(from) && files.contains(to));
    let shown = within.map(|((from, to), names)| {
        (from.to_string(), to.to_string(), names.iter().map(ToString::to_string).collect())
    });
    Circle { files: files.iter().map(ToString::to_string).collect(), arrows: shown.collect() }
}

/// The modules of a crate's library, or of its program where it has no library.
fn modules<'a>(tree: &'a Tree, dir: &str) -> Vec<Module<'a>> {
    let src = format!("{dir}/src/");
    let root = if tree.has(&format!("{src}lib.rs")) { "lib.rs" } else { "main.rs" };
    let mut files = Vec::new();
    let mut tests: BTreeSet<Vec<&str>> = BTreeSet::new();
    for (file, text) in tree.texts(".rs") {
        let Some(path) = file.strip_prefix(&src).and_then(|below| path(below, root)) else { continue };
        let tokens = rust::tokens(text);
        for name in source::test_modules(&tokens) {
            tests.insert(path.iter().copied().chain([name]).collect());
        }
        files.push((file, path, tokens));
    }
    files.retain(|(_, path, _)| !(1..=path.len()).any(|length| tests.contains(&path[..length])));
    let read = files
        .into_iter()
        .flat_map(|(file, path, tokens)| source::modules(file, path, &rust::without_tests(&tokens)));
    read.collect()
}

/// The module that a file below `src/` is; `None` for the root of another program.
fn path<'a>(below: &'a str, root: &str) -> Option<Vec<&'a str>> {
    if below == root {
        return Some(Vec::new());
    }
    if matches!(below, "lib.rs" | "main.rs") || below.starts_with("bin/") {
        return None;
    }
    let mut path: Vec<&str> = below.strip_suffix(".rs")?.split('/').collect();
    if path.last() == Some(&"mod") {
        path.pop();
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The circles of a crate of these files, each as its files' names.
    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let mut all = vec![("crates/a/Cargo.toml".to_owned(), "[package]\nname = \"a\"\n")];
        all.extend(files.iter().map(|(path, text)| (format!("crates/a/src/{path}"), *text)));
        let all: Vec<(&str, &str)> = all.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let circles = of(&Tree::of(&all), "");
        circles.iter().map(|circle| circle.files.join(" ").replace("crates/a/src/", "")).collect()
    }

    #[test]
    fn files_that_use_each_other_are_a_circle_in_every_form() {
        for (a, b) in [
            ("use crate::b::B; pub struct A;", "use crate::a::A; pub struct B;"),
            ("use super::b::B; pub struct A;", "fn f() { super::a::A; } pub struct B;"),
            ("use crate::b; pub struct A; fn f() { b::B }", "fn f(_: crate::a::A) {} pub struct B;"),
            ("use crate::b::*; pub struct A(B);", "use crate::a::*; pub struct B(A);"),
            ("use crate::{B}; pub struct A;", "use crate::A as C; pub struct B;"),
            ("use crate::b::B::*; pub struct A;", "use crate::{a::{A}}; pub enum B {}"),
        ] {
            let lib = "mod a; mod b; pub use a::A; pub use b::B;";
            assert_eq!(found(&[("lib.rs", lib), ("a.rs", a), ("b.rs", b)]), ["a.rs b.rs"], "{a} | {b}");
        }
    }

    #[test]
    fn what_leads_one_way_only_is_no_circle() {
        let lib = "mod a; mod b; pub use a::A; pub use b::*;";
        for (a, b) in [
            ("use crate::b::B; pub struct A;", "pub struct B;"),
            ("use crate::B; pub struct A;", "use std::a::A; // crate::a::A\npub struct B;"),
            ("use crate::b::B; pub struct A;", "pub struct B; #[cfg(test)] mod tests { use crate::a::A; }"),
            ("use crate::b; pub struct A;", "use crate::a::A; pub struct B;"),
            ("use crate::b::*; pub struct A;", "use crate::a::A; pub struct B;"),
        ] {
            assert_eq!(
                found(&[("lib.rs", lib), ("a.rs", a), ("b.rs", b)]),
                Vec::<String>::new(),
                "{a} | {b}"
            );
        }
    }

    #[test]
    fn a_parent_passes_names_on_freely_and_is_in_a_circle_once_it_uses_them() {
        let child = ("a/b.rs", "use super::A; pub struct B;");
        for (parent, expected) in [
            ("mod b; pub use b::B; pub struct A;", vec![]),
            ("mod b; pub use b::B; pub struct A(B);", vec!["a.rs a/b.rs"]),
            ("mod b; pub struct A; fn f() { b::B }", vec!["a.rs a/b.rs"]),
            ("mod b; pub use self::b::*; pub struct A; fn f(_: B) {}", vec!["a.rs a/b.rs"]),
        ] {
            assert_eq!(found(&[("lib.rs", "mod a;"), ("a.rs", parent), child]), expected, "{parent}");
        }
    }

    #[test]
    fn a_name_counts_for_the_file_that_defines_it_not_for_those_that_pass_it_on() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a/mod.rs", "mod deep; pub use deep::{Deep, make}; use crate::b::B; fn f(_: B) {}"),
            ("a/deep.rs", "pub struct Deep; pub fn make() {}"),
            ("b.rs", "use crate::a::{self, Deep}; pub struct B(Deep); fn f() { a::make() }"),
        ];
        assert_eq!(found(&files), Vec::<String>::new());
    }

    #[test]
    fn macros_reach_the_modules_below_without_a_path() {
        let files = [
            ("lib.rs", "macro_rules! page { () => {} } mod a; fn f() { a::A }"),
            ("a.rs", "page!(); pub struct A;"),
        ];
        assert_eq!(found(&files), ["a.rs lib.rs"]);
    }

    #[test]
    fn files_of_tests_do_not_count_nor_do_other_programs() {
        let files = [
            ("lib.rs", "mod a; #[cfg(test)] mod testing;"),
            ("a.rs", "pub struct A; #[cfg(test)] use crate::testing::T;"),
            ("testing.rs", "pub struct T(crate::a::A);"),
            ("main.rs", "fn main() { crate::a::A }"),
        ];
        assert_eq!(found(&files), Vec::<String>::new());
    }

    #[test]
    fn a_circle_shows_its_arrows_with_the_names() {
        let tree = Tree::of(&[
            ("x/Cargo.toml", "[package]\nname = \"x\"\n"),
            ("x/src/main.rs", "mod a; mod b; mod c;"),
            ("x/src/a.rs", "use crate::b::{B, also}; pub struct A;"),
            ("x/src/b.rs", "use crate::c::C; pub struct B; pub fn also() {}"),
            ("x/src/c.rs", "use crate::a::A; pub struct C;"),
        ]);
        let shown: Vec<String> = of(&tree, "x/").iter().map(ToString::to_string).collect();
        let expected = "circle of 3 modules\n  x/src/a.rs -> x/src/b.rs: B, also\n  x/src/b.rs -> x/src/c.rs: C\n  \
                        x/src/c.rs -> x/src/a.rs: A";
        assert_eq!(shown, [expected]);
    }
}
