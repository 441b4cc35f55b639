//! The rows that a text has shown so far: a second output of `perf sched timehist` repeats those of the first, as with `--cpu` beside the
//! whole table.

use rustc_hash::FxHashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// So many rows are remembered: text in which an author shows two outputs is short.
const MOST: usize = 1 << 16;

/// See the module.
#[derive(Default)]
pub(in crate::text) struct ShownRows(FxHashSet<u64>);

impl ShownRows {
    /// Takes in a row; true where an earlier one has the same words.
    pub(in crate::text) fn has(&mut self, text: &str) -> bool {
        let mut hasher = DefaultHasher::new();
        text.split_whitespace().for_each(|word| word.hash(&mut hasher));
        let row = hasher.finish();
        self.0.contains(&row) || self.0.len() < MOST && !self.0.insert(row)
    }
}
