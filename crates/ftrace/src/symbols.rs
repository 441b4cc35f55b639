//! Function names by address, from a copy of `/proc/kallsyms`.

use whylate_events::{Symbol, symbol_in_module};

/// A sorted symbol table.
#[derive(Debug, Default)]
pub struct Symbols {
    text: Vec<u8>,
    /// Address, and where in the text the name begins.
    by_address: Vec<(u64, u32)>,
}

impl Symbols {
    /// Reads `address type name [module]` lines. Where the addresses are hidden
    /// (`kernel.kptr_restrict`), all are 0 and the table stays empty.
    pub fn parse(text: Vec<u8>) -> Symbols {
        let mut by_address = Vec::with_capacity(text.len() / 40);
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', &text).chain([text.len()]) {
            if let Some(entry) = entry(&text[start..end]).filter(|entry| entry.0 != 0)
                && let Ok(at) = u32::try_from(start + entry.1)
            {
                by_address.push((entry.0, at));
            }
            start = end + 1;
        }
        // A stable sort: of aliases the first listed is found, as the kernel's own %ps does.
        by_address.sort_by_key(|entry| entry.0);
        by_address.dedup_by_key(|entry| entry.0);
        Symbols { text, by_address }
    }

    /// The function that `address` is in; empty when no symbol lies at or below it.
    pub fn name(&self, address: u64) -> &[u8] {
        self.name_and_rest(address).0
    }

    /// The same as the kernel prints it (`%ps`): with its module in brackets, where it is in one and there is room.
    fn with_module(&self, address: u64) -> Symbol {
        let (name, rest) = self.name_and_rest(address);
        let line = rest.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii();
        match line.strip_prefix(b"[").and_then(|line| line.strip_suffix(b"]")) {
            Some(module) => symbol_in_module(name, module),
            None => Symbol::from_bytes(name),
        }
    }

    fn name_and_rest(&self, address: u64) -> (&[u8], &[u8]) {
        let after = self.by_address.partition_point(|entry| entry.0 <= address);
        let Some(&(_, at)) = after.checked_sub(1).and_then(|index| self.by_address.get(index)) else {
            return (&[], &[]);
        };
        let rest = self.text.get(at as usize..).unwrap_or_default();
        rest.split_at(rest.iter().position(|&byte| byte.is_ascii_whitespace()).unwrap_or(rest.len()))
    }

    /// The function that `address` is in: where it begins and its name; `None` below the first
    /// symbol, and past the last, whose end is not known.
    pub fn find(&self, address: u64) -> Option<(u64, &[u8])> {
        let after = self.by_address.partition_point(|entry| entry.0 <= address);
        let start = self.by_address.get(after.checked_sub(1)?)?.0;
        (start == address || after < self.by_address.len()).then(|| (start, self.name(address)))
    }

    /// Where the symbol of that name begins.
    pub fn address(&self, name: &str) -> Option<u64> {
        let found = self.by_address.iter().find(|(address, _)| self.name(*address) == name.as_bytes());
        found.map(|&(address, _)| address)
    }

    /// The text it was read from.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// From where a function begins to where the next symbol does.
    pub fn size(&self, start: u64) -> Option<u64> {
        let after = self.by_address.partition_point(|entry| entry.0 <= start);
        self.by_address.get(after).map(|next| next.0 - start)
    }

    /// True when no address is known.
    pub fn is_empty(&self) -> bool {
        self.by_address.is_empty()
    }
}

/// The value of each hexadecimal digit; 16 of all other bytes. A table has hundreds of thousands of addresses.
const VALUE: [u8; 256] = {
    let mut values = [16; 256];
    let mut value = 0;
    while value < 16 {
        let digit = b"0123456789abcdef"[value as usize];
        values[digit as usize] = value;
        values[digit.to_ascii_uppercase() as usize] = value;
        value += 1;
    }
    values
};

/// A line's address and where in the line its name begins.
fn entry(line: &[u8]) -> Option<(u64, usize)> {
    let mut address = 0u64;
    let mut digits = 0;
    while let Some(digit) = line.get(digits).map(|&byte| VALUE[usize::from(byte)]).filter(|&value| value < 16)
    {
        if address >> 60 != 0 {
            return None;
        }
        address = address << 4 | u64::from(digit);
        digits += 1;
    }
    // " T name": a blank, one letter, a blank.
    let name = digits + 3;
    // An absolute symbol of x86-64 is no address but a distance in the per-CPU area; a name with
    // a `$` marks code and data on ARM.
    let named = !matches!(line.get(digits + 1), Some(b'a' | b'A')) && line.get(name) != Some(&b'$');
    (digits > 0 && line.len() > name && named).then_some((address, name))
}

/// A small memory of names that were looked up: a trace has few timer callbacks, and a
/// search through 200 000 symbols costs more than the rest of an event.
#[derive(Debug)]
pub struct SymbolCache {
    symbols: std::sync::Arc<Symbols>,
    slots: Box<[(u64, Symbol); SLOTS]>,
    /// Where the kernel's text begins, once it was asked for.
    kernel_text: Option<Option<u64>>,
}

const SLOTS: usize = 64;

impl SymbolCache {
    /// An empty memory in front of `symbols`.
    pub fn new(symbols: std::sync::Arc<Symbols>) -> SymbolCache {
        SymbolCache { symbols, slots: Box::new([(0, Symbol::default()); SLOTS]), kernel_text: None }
    }

    /// The function at a distance from the beginning of the kernel's text (`_stext`); none where that is not known.
    pub fn in_kernel_text(&mut self, distance: i64) -> Symbol {
        let begin = *self.kernel_text.get_or_insert_with(|| self.symbols.address("_stext"));
        match begin.and_then(|begin| begin.checked_add_signed(distance)) {
            Some(address) => self.name(address),
            None => Symbol::default(),
        }
    }

    /// The function that `address` is in, with its module in brackets.
    #[inline]
    pub fn name(&mut self, address: u64) -> Symbol {
        // Functions are aligned to 16 bytes.
        let slot = &mut self.slots[(address >> 4) as usize % SLOTS];
        if slot.0 != address {
            *slot = (address, self.symbols.with_module(address));
        }
        slot.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[u8] = b"ffff0010 T first\nffff0010 t alias\nffff0040 t second\t[module]\n0 t hidden\nnonsense\nffff0030 W middle";

    #[test]
    fn the_nearest_symbol_below() {
        let symbols = Symbols::parse(TABLE.to_vec());
        for (address, name) in [
            (0xffff_0000, ""),
            (0xffff_0010, "first"),
            (0xffff_002f, "first"),
            (0xffff_0030, "middle"),
            (0xffff_9999, "second"),
        ] {
            assert_eq!(symbols.name(address), name.as_bytes(), "{address:x}");
        }
    }

    #[test]
    fn a_module_for_which_there_is_no_room_stays_out() {
        let long = format!("ffff0010 t {}\t[module]\nffff0020 t f\t[{}]\n", "g".repeat(33), "m".repeat(34));
        let symbols = Symbols::parse(long.into_bytes());
        assert_eq!(symbols.with_module(0xffff_0010).as_str(), "g".repeat(33));
        assert_eq!(symbols.with_module(0xffff_0020).as_str(), format!("f [{}]", "m".repeat(34)));
    }

    #[test]
    fn hidden_addresses_give_no_names() {
        assert!(Symbols::parse(b"0000000000000000 T _text\n0000000000000000 T start\n".to_vec()).is_empty());
    }

    #[test]
    fn the_cache_answers_as_the_table_does() {
        let symbols = std::sync::Arc::new(Symbols::parse(TABLE.to_vec()));
        let mut cache = SymbolCache::new(symbols.clone());
        for address in (0xffff_0000..0xffff_0100).chain(0xffff_0000..0xffff_0100) {
            let name = cache.name(address);
            let plain = name.as_str().split(' ').next().unwrap_or_default().to_owned();
            assert_eq!(plain.as_bytes(), symbols.name(address));
        }
        assert_eq!(cache.name(0xffff_0044).as_str(), "second [module]");
        assert_eq!(cache.name(0xffff_0010).as_str(), "first");
        assert!(cache.name(0).is_empty());
    }
}
