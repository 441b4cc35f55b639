//! Which functions the calls at given addresses are to, by the calling file's own code: a library that is stripped has no names
//! for its inner functions, and its stack does not show through which of its functions it was entered.

use crate::constant_calls::{CallTargets, MOST_BYTES, call_targets, word};
use object::{Architecture, Object, ObjectSection};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Of the calls at these addresses, those to one of `functions`. An address is that of a stack's frame: of the call's last
/// byte, as the file was linked. None where the file cannot be read, or is of another architecture than x86-64 and arm64.
pub fn called_functions(
    path: &Path,
    addresses: &[u64],
    functions: &[&'static str],
) -> BTreeMap<u64, &'static str> {
    if fs::metadata(path).map_or(u64::MAX, |file| file.len()) > MOST_BYTES {
        return BTreeMap::new();
    }
    let bytes = fs::read(path).unwrap_or_default();
    let Ok(file) = object::File::parse(&*bytes) else { return BTreeMap::new() };
    let is_call = match file.architecture() {
        Architecture::X86_64 => is_call_x86_64,
        Architecture::Aarch64 => is_call_arm64,
        _ => return BTreeMap::new(),
    };
    let targets: Vec<_> = functions.iter().map(|&name| (name, call_targets(&file, name))).collect();
    let section_of = |address: u64| {
        let holds = |section: &object::Section<'_, '_>| {
            address.checked_sub(section.address()).is_some_and(|at| at < section.size())
        };
        file.sections().find(holds)
    };
    let called = addresses.iter().filter_map(|&address| {
        let section = section_of(address)?;
        let (code, base) = (section.data().ok()?, section.address());
        let at = usize::try_from(address - base).ok()?;
        let (name, _) = targets.iter().find(|(_, targets)| is_call(code, base, at, targets))?;
        Some((address, *name))
    });
    called.collect()
}

/// `call` to an address, and through a slot: their last byte is at `at`.
fn is_call_x86_64(code: &[u8], base: u64, at: usize, targets: &CallTargets) -> bool {
    let to = |distance: u32| {
        (base + at as u64 + 1).checked_add_signed(i64::from(distance as i32)).unwrap_or_default()
    };
    let Some(distance) = at.checked_sub(3).and_then(|begin| word(code, begin)) else { return false };
    let before = |count: usize| at.checked_sub(count).and_then(|at| code.get(at)).copied();
    match (before(5), before(4)) {
        (_, Some(0xe8)) => targets.entries.contains(&to(distance)),
        (Some(0xff), Some(0x15)) => targets.slots.contains(&to(distance)),
        _ => false,
    }
}

/// `bl`: its last byte is at `at`.
fn is_call_arm64(code: &[u8], base: u64, at: usize, targets: &CallTargets) -> bool {
    let Some(begin) = at.checked_sub(3) else { return false };
    let Some(instruction) = word(code, begin).filter(|one| one >> 26 == 0b10_0101) else { return false };
    let distance = i64::from((instruction << 6) as i32 >> 6) * 4;
    let to = (base + begin as u64).checked_add_signed(distance);
    to.is_some_and(|to| targets.entries.contains(&to))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: u64 = 0x40_0000;

    #[test]
    fn the_call_before_a_return_address_has_its_target() {
        let targets = CallTargets { entries: [BASE + 0x100].into(), slots: [BASE + 0x200].into() };
        let code = |call: &[u8], target: u64| {
            let begin = [&[0x90; 4][..], call].concat();
            let distance = target.wrapping_sub(BASE + begin.len() as u64 + 4) as u32;
            [begin, distance.to_le_bytes().to_vec()].concat()
        };
        for (what, code, expected) in [
            ("a call", code(&[0xe8], BASE + 0x100), true),
            ("of another function", code(&[0xe8], BASE + 0x108), false),
            ("through a slot", code(&[0xff, 0x15], BASE + 0x200), true),
            ("a jump", code(&[0xe9], BASE + 0x100), false),
        ] {
            assert_eq!(is_call_x86_64(&code, BASE, code.len() - 1, &targets), expected, "{what}");
            assert!(!is_call_x86_64(&code, BASE, code.len() - 2, &targets), "{what}");
        }
        for (what, word, expected) in
            [("bl", 0x9400_0040u32, true), ("b", 0x1400_0040, false), ("bl of another", 0x9400_0041, false)]
        {
            assert_eq!(is_call_arm64(&word.to_le_bytes(), BASE, 3, &targets), expected, "{what}");
        }
        // Backwards by 4 bytes.
        let targets = CallTargets { entries: [BASE].into(), slots: [].into() };
        let back = [0x9400_0000u32, 0x97ff_ffff].map(u32::to_le_bytes).concat();
        assert!(is_call_arm64(&back, BASE, 7, &targets));
    }

    #[test]
    fn a_file_without_such_calls_has_none() {
        let own = std::env::current_exe().expect("a path");
        assert_eq!(called_functions(&own, &[0, u64::MAX], &["sem_wait"]), BTreeMap::new());
        assert_eq!(called_functions(Path::new("/proc/self/status"), &[0], &["sem_wait"]), BTreeMap::new());
    }
}
