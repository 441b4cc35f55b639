//! What one source file defines, imports and names, module by module.

use crate::tidy::rust::{self, Kind, Token};
use std::collections::BTreeSet;

/// A module: a file, or a `mod name { .. }` inside one.
#[derive(Debug)]
pub(super) struct Module<'a> {
    /// From the crate's root on; empty for the root itself.
    pub(super) path: Vec<&'a str>,
    /// The file it stands in.
    pub(super) file: &'a str,
    /// Types, functions, constants and macros that it defines.
    pub(super) items: BTreeSet<&'a str>,
    /// The macros of `macro_rules!` among them: modules below see these without a path.
    pub(super) macros: BTreeSet<&'a str>,
    pub(super) imports: Vec<Import<'a>>,
    /// Paths of two segments or more, outside `use`.
    pub(super) paths: BTreeSet<Vec<&'a str>>,
    /// Words that may name something imported, outside `use`.
    pub(super) words: BTreeSet<&'a str>,
}

/// One name that a `use` brings into scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import<'a> {
    pub(super) path: Vec<&'a str>,
    /// What it is called here; `None` for `path::*`.
    pub(super) name: Option<&'a str>,
    /// `pub`, in whatever part: a name passed on is not yet a name used.
    pub(super) passed_on: bool,
}

/// Reads a file without its tests: its own module first, then those written inside it.
pub(super) fn modules<'a>(file: &'a str, path: Vec<&'a str>, tokens: &[Token<'a>]) -> Vec<Module<'a>> {
    let mut reader =
        Reader { tokens, at: 0, modules: vec![Module::new(file, path)], open: Vec::new(), inside: vec![0] };
    while reader.step() {}
    reader.modules
}

/// The modules that are declared as tests: `#[cfg(test)] mod name;`.
pub(super) fn test_modules<'a>(tokens: &[Token<'a>]) -> BTreeSet<&'a str> {
    let declared = ["#", "[", "cfg", "(", "test", ")", "]"];
    let starts = (0..tokens.len()).filter(|at| rust::starts_with(&tokens[*at..], &declared));
    let after = starts.map(|at| &tokens[at + declared.len()..]);
    after
        .filter_map(|rest| {
            let at = rest.iter().position(|token| token.is("mod"))?;
            let visible =
                rest[..at].iter().all(|token| token.is("pub") || "()crateusper".contains(token.text));
            (visible && rest.get(at + 2)?.is(";")).then(|| rest[at + 1].text)
        })
        .collect()
}

impl<'a> Module<'a> {
    fn new(file: &'a str, path: Vec<&'a str>) -> Module<'a> {
        Module {
            path,
            file,
            items: BTreeSet::new(),
            macros: BTreeSet::new(),
            imports: Vec::new(),
            paths: BTreeSet::new(),
            words: BTreeSet::new(),
        }
    }
}

/// What an open brace belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Brace {
    Module,
    /// A macro called among items: what it is given are mostly items.
    Items,
    Body,
}

struct Reader<'a, 't> {
    tokens: &'t [Token<'a>],
    at: usize,
    modules: Vec<Module<'a>>,
    open: Vec<Brace>,
    /// The modules we are in, outermost first.
    inside: Vec<usize>,
}

impl<'a> Reader<'a, '_> {
    fn is(&self, ahead: usize, text: &str) -> bool {
        self.tokens.get(self.at + ahead).is_some_and(|token| token.is(text))
    }

    fn word(&self, ahead: usize) -> Option<&'a str> {
        let token = self.tokens.get(self.at + ahead)?;
        (token.kind == Kind::Word).then_some(token.text)
    }

    fn before(&self, back: usize) -> &'a str {
        self.at.checked_sub(back).map_or("", |at| self.tokens[at].text)
    }

    fn module(&mut self) -> &mut Module<'a> {
        let at = self.inside.last().copied().unwrap_or(0);
        &mut self.modules[at]
    }

    fn step(&mut self) -> bool {
        let Some(token) = self.tokens.get(self.at).copied() else { return false };
        match token.kind {
            Kind::String => {
                // Attributes name functions in strings: #[serde(with = "crate::hex")].
                let path: Vec<&str> = token.text.split("::").collect();
                if path.len() > 1 && matches!(path[0], "crate" | "super" | "self") {
                    self.module().paths.insert(path);
                }
                self.at += 1;
            }
            Kind::Mark => {
                match token.text {
                    "{" => self.open.push(self.brace()),
                    "}" if self.open.pop() == Some(Brace::Module) => drop(self.inside.pop()),
                    _ => {}
                }
                self.at += 1;
            }
            Kind::Word => self.at_word(token.text),
        }
        true
    }

    /// What the brace here opens; a module's is dealt with where its name stands.
    fn brace(&self) -> Brace {
        let called = self.before(1) == "!" && self.before(2) != "macro_rules";
        if called && self.among_items() { Brace::Items } else { Brace::Body }
    }

    fn among_items(&self) -> bool {
        self.open.iter().all(|brace| *brace != Brace::Body)
    }

    fn at_word(&mut self, word: &'a str) {
        if word == "use" && !self.is(1, "<") {
            return self.import();
        }
        let name = self.word(1);
        if self.among_items() {
            match (word, name) {
                ("mod", Some(name)) if self.is(2, "{") => return self.enter(name),
                ("struct" | "enum" | "union" | "trait" | "type" | "fn", Some(name)) => {
                    self.module().items.insert(name);
                }
                ("const" | "static", Some(name)) if !matches!(name, "fn" | "unsafe" | "extern" | "_") => {
                    let name = if name == "mut" { self.word(2).unwrap_or(name) } else { name };
                    self.module().items.insert(name);
                }
                ("macro_rules", _) => {
                    if let Some(name) = self.word(2) {
                        self.module().items.insert(name);
                        self.module().macros.insert(name);
                    }
                }
                _ => {}
            }
        }
        self.path(word);
    }

    fn enter(&mut self, name: &'a str) {
        let outer = self.module();
        let mut path = outer.path.clone();
        path.push(name);
        let module = Module::new(outer.file, path);
        self.inside.push(self.modules.len());
        self.modules.push(module);
        self.open.push(Brace::Module);
        self.at += 3;
    }

    /// A path that begins here, or a single word.
    fn path(&mut self, word: &'a str) {
        let (before, before_that) = (self.before(1), self.before(2));
        let mut path = vec![word];
        self.at += 1;
        while self.is(0, ":")
            && self.is(1, ":")
            && let Some(next) = self.word(2)
        {
            path.push(next);
            self.at += 3;
        }
        let continued = before == ":" && before_that == ":";
        if continued {
            return;
        }
        // `pub(in path)` and `field: Type` name nothing that is used.
        let visibility = before == "in" && before_that == "(";
        let field = self.is(0, ":") && !self.is(1, ":");
        if path.len() > 1 && !visibility {
            self.module().words.insert(word);
            self.module().paths.insert(path);
        } else if !field && !matches!(before, "." | "fn" | "mod" | "let") {
            self.module().words.insert(word);
        }
    }

    fn import(&mut self) {
        // `pub use`, or `pub(..) use`.
        let passed_on = matches!(self.before(1), "pub" | ")");
        self.at += 1;
        let mut found = Vec::new();
        self.tree(&mut Vec::new(), &mut found);
        for (path, name) in found {
            self.module().imports.push(Import { path, name, passed_on });
        }
    }

    /// One branch of a use tree; stops before `,`, `}` or `;`.
    fn tree(&mut self, prefix: &mut Vec<&'a str>, found: &mut Vec<(Vec<&'a str>, Option<&'a str>)>) {
        let length = prefix.len();
        while let Some(token) = self.tokens.get(self.at).copied() {
            match token.text {
                "," | "}" | ";" => break,
                "*" => {
                    found.push((prefix.clone(), None));
                    self.at += 1;
                    prefix.truncate(length);
                    return;
                }
                "{" => {
                    self.at += 1;
                    while self.at < self.tokens.len() && !self.is(0, "}") {
                        self.tree(prefix, found);
                        if self.is(0, ",") {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    prefix.truncate(length);
                    return;
                }
                "as" => {
                    let name = self.word(1).unwrap_or("_");
                    found.push((named(prefix), Some(name)));
                    self.at += 2;
                    prefix.truncate(length);
                    return;
                }
                ":" => self.at += 1,
                word => {
                    prefix.push(word);
                    self.at += 1;
                }
            }
        }
        if prefix.len() > length {
            let path = named(prefix);
            let name = path.last().copied();
            found.push((path, name));
            prefix.truncate(length);
        }
    }
}

/// `a::b::self` is `a::b`.
fn named<'a>(path: &[&'a str]) -> Vec<&'a str> {
    let own = path.len() > 1 && path.last() == Some(&"self");
    path[..path.len() - usize::from(own)].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str) -> Vec<Module<'_>> {
        modules("a.rs", vec!["a"], &rust::without_tests(&rust::tokens(source)))
    }

    fn imports(source: &str) -> Vec<String> {
        let read = read(source);
        let shown = |import: &Import<'_>| {
            format!("{}={}", import.path.join("::"), import.name.unwrap_or("*"))
                + if import.passed_on { "+" } else { "" }
        };
        read[0].imports.iter().map(shown).collect()
    }

    #[test]
    fn every_form_of_use_is_read() {
        for (source, expected) in [
            ("use a::b;", vec!["a::b=b"]),
            ("use a::{b, c::{self, D as E}, f::*};", vec!["a::b=b", "a::c=c", "a::c::D=E", "a::f=*"]),
            ("pub(crate) use x::Y;", vec!["x::Y=Y+"]),
            ("pub use x::Y as _;", vec!["x::Y=_+"]),
            ("fn f() { use super::Z; } fn g() -> impl Sized + use<'a> {}", vec!["super::Z=Z"]),
            ("use {a::B, c::D,};", vec!["a::B=B", "c::D=D"]),
        ] {
            assert_eq!(imports(source), expected, "{source}");
        }
    }

    #[test]
    fn items_are_those_of_the_module_alone() {
        let read = read(
            "pub struct A; impl A { fn not(&self) {} const N: u8 = 1; } const fn b() {} static mut C: u8 = 0;\n\
             macro_rules! d { () => { struct Not; } } readings! { struct E { not: u8 } } mod inner { enum F {} }\n\
             type G = fn(u8); trait H { type Not; }",
        );
        let items = |at: usize| read[at].items.iter().copied().collect::<Vec<_>>();
        assert_eq!(items(0), ["A", "C", "E", "G", "H", "b", "d"]);
        assert_eq!((items(1), read[1].path.as_slice()), (vec!["F"], ["a", "inner"].as_slice()));
    }

    #[test]
    fn paths_are_read_whole_and_words_apart() {
        let read = read(
            "pub(in crate::x) fn f(a: crate::b::C) { d::e::<T>(); x.y(); g(h) } #[serde(with = \"super::hex\")]",
        );
        let paths: Vec<String> = read[0].paths.iter().map(|path| path.join("::")).collect();
        assert_eq!(paths, ["crate::b::C", "d::e", "super::hex"]);
        assert!(read[0].words.contains("h") && !read[0].words.contains("y"));
    }

    #[test]
    fn modules_of_tests_are_known_by_their_declaration() {
        let source = "#[cfg(test)] mod tests; #[cfg(test)] pub(crate) mod testing; mod real; #[cfg(test)] use x; mod y;";
        assert_eq!(test_modules(&rust::tokens(source)).into_iter().collect::<Vec<_>>(), ["testing", "tests"]);
    }
}
