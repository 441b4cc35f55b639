//! Which file of a crate uses names of which other: paths resolved through modules, imports and re-exports.

use super::source::{Import, Module};
use std::collections::{BTreeMap, BTreeSet};

/// File -> file: the names that the first takes from the second.
pub(super) type Arrows<'a> = BTreeMap<(&'a str, &'a str), BTreeSet<&'a str>>;

/// More re-exports than this in a row lead in a ring.
const LONGEST_CHAIN: usize = 8;

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target<'a> {
    /// The module with this number.
    Module(usize),
    /// A name that stands in this file.
    Name(&'a str, &'a str),
}

/// The modules of one crate.
pub(super) struct Graph<'m, 'a> {
    modules: &'m [Module<'a>],
    by_path: BTreeMap<&'m [&'a str], usize>,
}

impl<'m, 'a> Graph<'m, 'a> {
    pub(super) fn new(modules: &'m [Module<'a>]) -> Graph<'m, 'a> {
        let by_path = modules.iter().enumerate().map(|(number, module)| (module.path.as_slice(), number));
        Graph { modules, by_path: by_path.collect() }
    }

    /// All arrows between files.
    pub(super) fn arrows(&self) -> Arrows<'a> {
        let mut arrows = Arrows::new();
        for (number, module) in self.modules.iter().enumerate() {
            for (file, name) in self.used_by(number) {
                if file != module.file {
                    arrows.entry((module.file, file)).or_default().insert(name);
                }
            }
        }
        arrows
    }

    /// Every file and name that a module uses.
    fn used_by(&self, number: usize) -> Vec<(&'a str, &'a str)> {
        let module = &self.modules[number];
        let mut targets = Vec::new();
        for path in &module.paths {
            targets.extend(self.resolved(number, path, 0));
        }
        for import in &module.imports {
            match import.name {
                None => targets.extend(self.through_glob(number, import)),
                Some(name) if import.passed_on && !module.words.contains(name) => {}
                Some(_) => targets.extend(self.resolved(number, &import.path, 0)),
            }
        }
        for word in &module.words {
            targets.extend(self.macro_of_an_ancestor(module, word));
        }
        let names = targets.into_iter().filter_map(|target| match target {
            Target::Name(file, name) => Some((file, name)),
            // A module imported as such: what is used of it, paths show.
            Target::Module(_) => None,
        });
        names.collect()
    }

    /// The names of a `use path::*` that the module has words for.
    fn through_glob(&self, number: usize, import: &Import<'a>) -> Vec<Target<'a>> {
        let module = &self.modules[number];
        let mut found = Vec::new();
        for target in self.resolved(number, &import.path, 0) {
            match target {
                // The variants of an enum.
                Target::Name(..) if !import.passed_on => found.push(target),
                Target::Name(..) => {}
                Target::Module(from) => {
                    let words = module.words.iter().filter(|word| !module.items.contains(*word));
                    found.extend(words.flat_map(|word| self.looked_up(from, word, 1)));
                }
            }
        }
        found
    }

    /// A macro needs no path in the modules below the one that defines it.
    fn macro_of_an_ancestor(&self, module: &Module<'a>, word: &'a str) -> Option<Target<'a>> {
        if module.macros.contains(word) {
            return None;
        }
        let ancestors = (0..module.path.len()).rev().map(|length| &module.path[..length]);
        let ancestors = ancestors.filter_map(|path| self.by_path.get(path)).map(|at| &self.modules[*at]);
        let definer = ancestors.into_iter().find(|ancestor| ancestor.macros.contains(word))?;
        Some(Target::Name(definer.file, word))
    }

    /// What a path that stands in the module leads to; nothing if it leads out of the crate.
    fn resolved(&self, number: usize, path: &[&'a str], depth: usize) -> Vec<Target<'a>> {
        let mut own = &self.modules[number].path[..];
        let mut rest = path;
        let mut anchored = false;
        while let Some((first, after)) = rest.split_first() {
            match *first {
                "crate" => own = &[],
                "super" => own = own.split_last().map_or(&[], |(_, parent)| parent),
                "self" => {}
                _ => break,
            }
            (anchored, rest) = (true, after);
        }
        let Some(start) = self.by_path.get(own) else { return Vec::new() };
        let mut targets = vec![Target::Module(*start)];
        for (position, name) in rest.iter().enumerate() {
            let of_the_crate = anchored || position > 0;
            targets = targets
                .into_iter()
                .flat_map(|target| match target {
                    Target::Module(module) => self.below(module, name, of_the_crate, depth),
                    name @ Target::Name(..) => vec![name],
                })
                .collect();
            // Of a module and a function of one name, only the module has anything below it.
            let modules = |target: &Target<'_>| matches!(target, Target::Module(_));
            if position + 1 < rest.len() && targets.iter().any(modules) {
                targets.retain(modules);
            }
        }
        targets
    }

    fn below(&self, module: usize, name: &'a str, of_the_crate: bool, depth: usize) -> Vec<Target<'a>> {
        let found = self.looked_up(module, name, depth + 1);
        // A macro may have made it: it is where the path leads.
        if found.is_empty() && of_the_crate {
            return vec![Target::Name(self.modules[module].file, name)];
        }
        found
    }

    /// All that one name means in a module: names of modules, types and functions may be the same.
    fn looked_up(&self, number: usize, name: &'a str, depth: usize) -> Vec<Target<'a>> {
        if depth > LONGEST_CHAIN {
            return Vec::new();
        }
        let module = &self.modules[number];
        let mut found = Vec::new();
        if module.items.contains(name) {
            found.push(Target::Name(module.file, name));
        }
        let mut child = module.path.clone();
        child.push(name);
        if let Some(child) = self.by_path.get(child.as_slice()) {
            found.push(Target::Module(*child));
        }
        for import in module.imports.iter().filter(|import| import.name == Some(name)) {
            let looped = import.path.len() == 1 && import.path[0] == name;
            if !looped {
                found.extend(self.resolved(number, &import.path, depth + 1));
            }
        }
        if found.is_empty() {
            for import in module.imports.iter().filter(|import| import.name.is_none()) {
                for target in self.resolved(number, &import.path, depth + 1) {
                    if let Target::Module(from) = target
                        && from != number
                    {
                        found.extend(self.looked_up(from, name, depth + 1));
                    }
                }
            }
        }
        found
    }
}
