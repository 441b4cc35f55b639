//! Names of devices and functions, by short ids.

use rustc_hash::FxHashMap;
use whylate_events::Symbol;

/// Names that are remembered.
const MOST_NAMES: usize = 1 << 12;

/// A name, by index into [`Names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NameId(u16);

/// See the module.
#[derive(Default)]
pub(crate) struct Names {
    names: Vec<Symbol>,
    ids: FxHashMap<Symbol, u16>,
}

impl Names {
    /// The name behind an id.
    pub(crate) fn name(&self, id: NameId) -> Symbol {
        self.names.get(usize::from(id.0)).copied().unwrap_or_default()
    }

    /// All names that were seen.
    pub(crate) fn all(&self) -> impl Iterator<Item = Symbol> {
        self.names.iter().copied()
    }

    pub(crate) fn id(&mut self, name: Symbol) -> NameId {
        let next = self.names.len();
        if next >= MOST_NAMES || name.is_empty() {
            return NameId(self.ids.get(&name).copied().unwrap_or(u16::MAX));
        }
        let id = *self.ids.entry(name).or_insert(next as u16);
        if usize::from(id) == next {
            self.names.push(name);
        }
        NameId(id)
    }
}
