//! The kernel's functions, which events have as numbers: of a recorder with `symbolize_ksyms`, that are keys of a table in the same
//! sequence of packets (`InternedData.kernel_symbols`). A sequence may begin with a new table again and again.

use super::wire::fields;
use std::collections::HashMap;
use whylate_events::Symbol;

/// All tables of a trace.
#[derive(Default)]
pub(super) struct Symbols {
    names: HashMap<Table, HashMap<u64, Symbol>>,
    /// Of each sequence that has tables, its latest.
    generations: HashMap<u32, u16>,
    count: usize,
}

/// A sequence of packets, and which of its tables.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Table {
    sequence: u32,
    generation: u16,
}

/// A kernel has some 200,000 functions.
const MOST_NAMES: usize = 1 << 20;
/// What is behind so many tables of a sequence has no names: those of an older one would be wrong.
const WITHOUT_NAMES: u16 = u16::MAX;

impl Symbols {
    /// Begins a new table in a sequence: the numbers of the last one mean nothing any more.
    pub(super) fn begin_again(&mut self, sequence: u32) {
        let generation = self.generation(sequence);
        if self.names.contains_key(&Table { sequence, generation }) {
            self.generations.insert(sequence, generation.saturating_add(1));
        }
    }

    /// Takes up an `InternedData`.
    pub(super) fn intern(&mut self, sequence: u32, bytes: &[u8]) {
        const KERNEL_SYMBOLS: u32 = 26;
        let generation = self.generation(sequence);
        for field in fields(bytes).filter(|field| field.number == KERNEL_SYMBOLS) {
            let Some(entry) = field.bytes(bytes) else { continue };
            let of = |number| fields(entry).find(|field| field.number == number);
            let number = of(1).and_then(|field| field.int());
            let name = of(2).and_then(|field| field.bytes(entry).map(Symbol::from_bytes));
            let (Some(number), Some(name)) = (number, name) else { continue };
            if self.count < MOST_NAMES && generation != WITHOUT_NAMES {
                self.count += 1;
                self.names.entry(Table { sequence, generation }).or_default().insert(number, name);
            }
        }
    }

    /// Which table a sequence has now.
    pub(super) fn generation(&self, sequence: u32) -> u16 {
        self.generations.get(&sequence).copied().unwrap_or(0)
    }

    /// The function that the events of a sequence have as `number`, in one of its tables; empty where it is not known, as an
    /// address is where the recorder had no `symbolize_ksyms`.
    pub(super) fn name(&self, sequence: u32, generation: u16, number: u64) -> Symbol {
        let table = self.names.get(&Table { sequence, generation });
        table.and_then(|names| names.get(&number)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An `InternedData` with one function.
    fn interned(number: u8, name: &str) -> Vec<u8> {
        let mut entry = vec![8, number, 0x12, name.len() as u8];
        entry.extend(name.as_bytes());
        let mut bytes = vec![0xd2, 1, entry.len() as u8];
        bytes.extend(entry);
        bytes
    }

    #[test]
    fn a_number_is_that_of_its_own_table() {
        let mut symbols = Symbols::default();
        symbols.begin_again(5);
        assert_eq!(symbols.generation(5), 0, "there is no table yet");
        symbols.intern(5, &interned(1, "io_schedule"));
        symbols.intern(6, &interned(1, "msleep"));
        symbols.begin_again(5);
        symbols.intern(5, &interned(1, "mutex_lock"));
        assert_eq!((symbols.generation(5), symbols.generation(6)), (1, 0));
        for (sequence, generation, number, name) in [
            (5, 0, 1, "io_schedule"),
            (5, 1, 1, "mutex_lock"),
            (6, 0, 1, "msleep"),
            (5, 1, 2, ""),
            (5, 2, 1, ""),
            (7, 0, 1, ""),
        ] {
            assert_eq!(symbols.name(sequence, generation, number).as_str(), name, "{sequence} {generation}");
        }
    }

    #[test]
    fn behind_too_many_tables_there_are_no_names() {
        let mut symbols = Symbols::default();
        for _ in 0..=u16::MAX {
            symbols.intern(5, &interned(1, "msleep"));
            symbols.begin_again(5);
        }
        assert_eq!(symbols.generation(5), WITHOUT_NAMES);
        symbols.intern(5, &interned(1, "mutex_lock"));
        assert_eq!(symbols.name(5, WITHOUT_NAMES, 1).as_str(), "");
    }
}
