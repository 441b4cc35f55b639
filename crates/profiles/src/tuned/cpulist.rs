//! TuneD's lists of CPUs: `0-3,^2`, also masks `0xff00ff` and lists of those; `,,` ends a mask that has commas.

use super::python::int;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// No machine has more: the kernel's own limit is 8192 (arch/x86/Kconfig, NR_CPUS_RANGE_END).
pub(super) const MOST: i64 = 1 << 16;

/// A number that no CPU has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Beyond(pub(super) i64);

/// The CPUs of a list. What cannot be understood makes the whole list empty, as TuneD has it; a mask that cannot,
/// only itself.
///
/// # Errors
/// A number beyond any CPU's.
pub(super) fn unpack(text: &str) -> Result<BTreeSet<u32>, Beyond> {
    let mut items: Vec<String> = Vec::new();
    let mut without = Vec::new();
    let mut mask: Option<String> = None;
    for item in text.trim_matches(['\'', '"']).split(',') {
        if let Some(so_far) = &mut mask {
            match item.is_empty() {
                true => items.extend(mask.take()),
                false => so_far.push_str(item),
            }
        } else if is_mask(item) {
            mask = Some(item.to_owned());
        } else if let Some(excluded) = item.strip_prefix(['^', '!']) {
            let Some(cpus) = range(excluded)? else { return Ok(BTreeSet::new()) };
            without.push(cpus);
        } else if !item.is_empty() {
            items.push(item.to_owned());
        }
    }
    items.extend(mask);
    let mut cpus = BTreeSet::new();
    let mut ranges = Vec::new();
    for item in &items {
        if is_mask(item) {
            cpus.extend(of_mask(item)?);
        } else {
            let Some(range) = range(item)? else { return Ok(BTreeSet::new()) };
            ranges.push(range);
        }
    }
    cpus.extend(all(ranges));
    Ok(&cpus - &all(without))
}

/// Each CPU of the ranges, looked at once however often it is in them.
fn all(mut ranges: Vec<RangeInclusive<u32>>) -> BTreeSet<u32> {
    ranges.sort_unstable_by_key(|range| *range.start());
    let (mut cpus, mut next) = (BTreeSet::new(), 0);
    for range in ranges {
        cpus.extend(next.max(*range.start())..=*range.end());
        next = next.max(range.end() + 1);
    }
    cpus
}

fn is_mask(item: &str) -> bool {
    item.starts_with("0x") || item.starts_with("0X")
}

/// `3`, `0-3`; `None`: it is neither. What follows a second dash counts for nothing.
fn range(item: &str) -> Result<Option<RangeInclusive<u32>>, Beyond> {
    let mut parts = item.split('-');
    let first = parts.next().and_then(|text| int(text, 10));
    let last = parts.next().map_or(first, |text| int(text, 10));
    let (Some(first), Some(last)) = (first, last) else { return Ok(None) };
    Ok(Some(number(first)?..=number(last)?))
}

fn number(value: i64) -> Result<u32, Beyond> {
    match value {
        0..MOST => Ok(value as u32),
        _ => Err(Beyond(value)),
    }
}

/// The CPUs of a hexadecimal mask; none, if it is none.
///
/// # Errors
/// A CPU beyond any.
pub(super) fn of_mask(text: &str) -> Result<BTreeSet<u32>, Beyond> {
    let text = text.replace(',', "");
    let text = super::python::strip(&text);
    let text = text.strip_prefix('+').unwrap_or(text);
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let digits = digits.map_or(text, |digits| digits.strip_prefix('_').unwrap_or(digits));
    if digits.split('_').any(|part| part.is_empty() || !part.bytes().all(|c| c.is_ascii_hexdigit())) {
        return Ok(BTreeSet::new());
    }
    let mut cpus = BTreeSet::new();
    for (position, digit) in digits.bytes().rev().filter(|&c| c != b'_').enumerate() {
        let digit = (digit as char).to_digit(16).unwrap_or_default();
        for bit in (0..4).filter(|bit| digit & (1 << bit) != 0) {
            cpus.insert(number((position * 4 + bit) as i64)?);
        }
    }
    Ok(cpus)
}

/// `0,1,2`.
pub(super) fn list(cpus: &BTreeSet<u32>) -> String {
    let numbers: Vec<String> = cpus.iter().map(u32::to_string).collect();
    numbers.join(",")
}

/// `0-2`.
pub(super) fn packed(cpus: &BTreeSet<u32>) -> String {
    cpus.iter().map(|&cpu| whylate_base::Cpu(cpu)).collect::<whylate_base::CpuSet>().to_string()
}

/// `00000007`: 32 bits to a word.
pub(super) fn mask(cpus: &BTreeSet<u32>) -> String {
    crate::tunable::mask(&cpus.iter().map(|&cpu| whylate_base::Cpu(cpu)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists() {
        for (text, cpus) in [
            ("0-3,8", "0,1,2,3,8"),
            ("\"1,2\"", "1,2"),
            ("0-5,^3", "0,1,2,4,5"),
            ("0-5,!2-4", "0,1,5"),
            ("0xf,,6", "0,1,2,3,6"),
            ("0x1,00000000", "32"),
            ("0xzz,,1", "1"),
            (" 1 , 2 ", "1,2"),
            ("3-1", ""),
            ("4-6,3-1,0-1,1-2", "0,1,2,4,5,6"),
            ("1-2-9", "1,2"),
            ("-1", ""),
            ("1,x", ""),
            ("1,^x", ""),
            ("${v}", ""),
            ("", ""),
        ] {
            assert_eq!(unpack(text).map(|cpus| list(&cpus)), Ok(cpus.to_owned()), "{text}");
        }
        assert_eq!(unpack("0-99999999999"), Err(Beyond(99_999_999_999)));
        assert!(of_mask(&"f".repeat(100_000)).is_err());
    }

    proptest! {
        #[test]
        fn masks_and_lists_are_the_same_cpus(cpus in prop::collection::btree_set(0u32..300, 0..40)) {
            prop_assert_eq!(of_mask(&mask(&cpus)), Ok(cpus.clone()));
            prop_assert_eq!(unpack(&list(&cpus)), Ok(cpus.clone()));
            prop_assert_eq!(unpack(&packed(&cpus)), Ok(cpus));
        }

        #[test]
        fn any_text_is_a_list_or_none(text in "[0-9a-fx,^!_ -]{0,40}") {
            let _ = unpack(&text);
            let _ = of_mask(&text);
        }
    }
}
