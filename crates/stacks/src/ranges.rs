//! Names of ranges of addresses, of text files: perf map files of generated code, and `/proc/kallsyms`.

/// Functions by address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NamedRanges {
    /// By start; the end is that of the next where the file has no size.
    ranges: Vec<(u64, Option<u64>, String)>,
}

/// How far behind the last symbol of the kernel an address may be, for it to be in that function.
const LAST: u64 = 1 << 16;

impl NamedRanges {
    /// A perf map file: `START SIZE NAME` with hexadecimal numbers
    /// (`tools/perf/Documentation/jit-interface.txt`). Of code at the same address, the last line has what is there now.
    pub(crate) fn of_perf_map(text: &str) -> NamedRanges {
        let line = |line: &str| {
            let (start, rest) = line.split_once(' ')?;
            let (size, name) = rest.split_once(' ')?;
            let start = hexadecimal(start)?;
            let end = start.checked_add(hexadecimal(size)?)?;
            (!name.is_empty()).then(|| (start, Some(end), name.to_owned()))
        };
        NamedRanges::new(text.lines().filter_map(line))
    }

    /// `/proc/kallsyms`: `ADDRESS TYPE NAME`, then the module in brackets, which stays with the name. Functions only. Empty where the kernel hides
    /// addresses: it shows zeros (`kptr_restrict`, `Documentation/admin-guide/sysctl/kernel.rst`).
    pub(crate) fn of_kallsyms(text: &str) -> NamedRanges {
        let line = |line: &str| {
            let mut words = line.split_whitespace();
            let (start, kind, name) = (hexadecimal(words.next()?)?, words.next()?, words.next()?);
            let name = words.next().map_or_else(|| name.to_owned(), |module| format!("{name} {module}"));
            (start != 0 && matches!(kind, "t" | "T" | "w" | "W")).then_some((start, None, name))
        };
        NamedRanges::new(text.lines().filter_map(line))
    }

    fn new(lines: impl Iterator<Item = (u64, Option<u64>, String)>) -> NamedRanges {
        let mut ranges: Vec<_> = lines.collect();
        // Stable: later lines stay behind earlier ones.
        ranges.sort_by_key(|&(start, ..)| start);
        NamedRanges { ranges }
    }

    /// The name of the range that an address is in.
    pub(crate) fn name(&self, address: u64) -> Option<&str> {
        let after = self.ranges.partition_point(|&(start, ..)| start <= address);
        let (start, end, name) = self.ranges.get(after.checked_sub(1)?)?;
        let next = self.ranges.get(after).map(|&(next, ..)| next);
        let end = end.or(next).unwrap_or(start.saturating_add(LAST));
        (address < end).then_some(name)
    }

    /// Whether there is no name at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}

fn hexadecimal(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits.strip_prefix("0x").unwrap_or(digits), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_perf_map_has_the_last_code_at_an_address() {
        let text = "7f10 10 py::loop:/srv/control.py\n0x7f40 8 Lazy compile:~step /a b.js:3\n7f10 10 again\nnonsense\n1 2\n1 x y\nffffffffffffffff 2 end\n";
        let names = NamedRanges::of_perf_map(text);
        for (address, expected) in [
            (0x7f0f, None),
            (0x7f10, Some("again")),
            (0x7f1f, Some("again")),
            (0x7f20, None),
            (0x7f47, Some("Lazy compile:~step /a b.js:3")),
            (0x7f48, None),
        ] {
            assert_eq!(names.name(address), expected, "{address:#x}");
        }
    }

    #[test]
    fn kernel_functions_reach_to_the_next_and_zeros_are_no_addresses() {
        let text = "ffffffff81000000 T _text\nffffffff81000100 D data\nffffffff81000200 t helper\nffffffffc0000000 t step\t[mod]\n";
        let names = NamedRanges::of_kallsyms(text);
        for (address, expected) in [
            (0xffff_ffff_8100_0150, Some("_text")),
            (0xffff_ffff_8100_0200, Some("helper")),
            (0xffff_ffff_c000_ffff, Some("step [mod]")),
            (0xffff_ffff_c001_0000, None),
            (0xffff_ffff_80ff_ffff, None),
        ] {
            assert_eq!(names.name(address), expected, "{address:#x}");
        }
        assert!(NamedRanges::of_kallsyms("0000000000000000 T _text\n0000000000000000 t helper\n").is_empty());
    }
}
