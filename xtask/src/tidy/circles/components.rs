//! Strongly connected components: the files from each of which every other can be reached.

use super::graph::Arrows;
use std::collections::BTreeMap;

/// The components of more than one file, each sorted.
pub(super) fn circles<'a>(arrows: &Arrows<'a>) -> Vec<Vec<&'a str>> {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in arrows.keys() {
        next.entry(from).or_default().push(to);
        next.entry(to).or_default();
    }
    let mut search = Search { next: &next, number: BTreeMap::new(), stack: Vec::new(), found: Vec::new() };
    for file in next.keys() {
        if !search.number.contains_key(file) {
            search.visit(file);
        }
    }
    let mut found = search.found;
    found.sort();
    found
}

/// Tarjan's algorithm.
struct Search<'n, 'a> {
    next: &'n BTreeMap<&'a str, Vec<&'a str>>,
    number: BTreeMap<&'a str, usize>,
    stack: Vec<&'a str>,
    found: Vec<Vec<&'a str>>,
}

impl<'a> Search<'_, 'a> {
    /// Returns the lowest number reached.
    fn visit(&mut self, file: &'a str) -> usize {
        let number = self.number.len();
        self.number.insert(file, number);
        self.stack.push(file);
        let mut low = number;
        for next in &self.next[file] {
            if !self.number.contains_key(next) {
                low = low.min(self.visit(next));
            } else if self.stack.contains(next) {
                low = low.min(self.number[next]);
            }
        }
        if low == number
            && let Some(at) = self.stack.iter().position(|other| *other == file)
        {
            let mut component = self.stack.split_off(at);
            component.sort_unstable();
            if component.len() > 1 {
                self.found.push(component);
            }
        }
        low
    }
}
