//! Calls of a function with a constant as its first argument, found in the code of a file without running it.
//!
//! A call is an instruction that calls or jumps to the function itself, to its entry in the procedure linkage table, or through
//! its slot in the global offset table. The argument is what the code before it last moved into the first argument's
//! register (System V ABI for x86-64; Procedure Call Standard for arm64). A constant that comes by another way is not
//! found.

use object::{
    Architecture, Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, RelocationTarget, SectionKind,
};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Larger files are not looked through.
pub(crate) const MOST_BYTES: u64 = 256 << 20;

/// A call with a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConstantCall {
    /// The address of the call, as the file was linked.
    pub address: u64,
    /// The first argument.
    pub argument: u32,
}

/// Where a function is called by.
#[derive(Debug, Default)]
pub(crate) struct CallTargets {
    /// Its own address, and those of its entries in procedure linkage tables.
    pub(crate) entries: BTreeSet<u64>,
    /// The slots that hold its address.
    pub(crate) slots: BTreeSet<u64>,
}

/// The calls of a function in a program or library, in order; none where the file cannot be read, or is of another
/// architecture than x86-64 and arm64.
pub fn constant_calls(path: &Path, function: &str) -> Vec<ConstantCall> {
    if fs::metadata(path).map_or(u64::MAX, |file| file.len()) > MOST_BYTES {
        return Vec::new();
    }
    let bytes = fs::read(path).unwrap_or_default();
    let Ok(file) = object::File::parse(&*bytes) else { return Vec::new() };
    let calls = match file.architecture() {
        Architecture::X86_64 => x86_64::calls,
        Architecture::Aarch64 => arm64::calls,
        _ => return Vec::new(),
    };
    let targets = call_targets(&file, function);
    let text = file.sections().filter(|section| section.kind() == SectionKind::Text && !is_table(section));
    let found: BTreeSet<ConstantCall> = text
        .flat_map(|section| calls(section.data().unwrap_or_default(), section.address(), &targets))
        .collect();
    found.into_iter().collect()
}

/// True for a procedure linkage table.
fn is_table<'a>(section: &impl ObjectSection<'a>) -> bool {
    section.name().is_ok_and(|name| name.starts_with(".plt"))
}

/// Where a function is called by in a file.
pub(crate) fn call_targets(file: &object::File<'_>, function: &str) -> CallTargets {
    let is_named =
        |name: object::Result<&str>| name.is_ok_and(|name| name.trim_start_matches('_') == function);
    let symbols = file.symbols().chain(file.dynamic_symbols());
    let defined = symbols.filter(|symbol| symbol.is_definition() && symbol.address() != 0);
    let mut targets = CallTargets::default();
    targets.entries.extend(defined.filter(|symbol| is_named(symbol.name())).map(|symbol| symbol.address()));
    if let (Some(relocations), Some(table)) = (file.dynamic_relocations(), file.dynamic_symbol_table()) {
        let of_function = |target| match target {
            RelocationTarget::Symbol(index) => {
                table.symbol_by_index(index).is_ok_and(|symbol| is_named(symbol.name()))
            }
            _ => false,
        };
        targets
            .slots
            .extend(relocations.filter(|(_, one)| of_function(one.target())).map(|(address, _)| address));
    }
    let entries = match file.architecture() {
        Architecture::X86_64 => x86_64::entries,
        _ => arm64::entries,
    };
    for section in file.sections().filter(is_table) {
        let data = section.data().unwrap_or_default();
        targets.entries.extend(entries(data, section.address(), &targets.slots));
    }
    targets
}

/// Four bytes at a place.
pub(crate) fn word(code: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(code.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

mod x86_64 {
    use super::{CallTargets, ConstantCall, word};
    use std::collections::BTreeSet;

    /// The argument is moved at most so many bytes before the call.
    const BEFORE: usize = 40;

    /// An address relative to the end of an instruction, by its last four bytes.
    fn relative(code: &[u8], base: u64, at: usize) -> Option<u64> {
        let distance = word(code, at)? as i32;
        base.checked_add(at as u64 + 4)?.checked_add_signed(i64::from(distance))
    }

    /// The entries that jump by one of the slots: `jmp *SLOT(%rip)`, alone, behind `endbr64`, or with `bnd`.
    pub(super) fn entries(code: &[u8], base: u64, slots: &BTreeSet<u64>) -> Vec<u64> {
        let jumps = code.windows(2).enumerate().filter(|(_, bytes)| *bytes == [0xff, 0x25]);
        let by_slot =
            jumps.filter(|&(at, _)| relative(code, base, at + 2).is_some_and(|slot| slots.contains(&slot)));
        by_slot
            .flat_map(|(at, _)| [0, 1, 4, 5].map(|before| (base + at as u64).saturating_sub(before)))
            .collect()
    }

    pub(super) fn calls(code: &[u8], base: u64, targets: &CallTargets) -> Vec<ConstantCall> {
        let is_call = |at: usize| match (code[at], code.get(at + 1)) {
            // call, jmp: to an address; through a slot.
            (0xe8 | 0xe9, _) => {
                relative(code, base, at + 1).is_some_and(|target| targets.entries.contains(&target))
            }
            (0xff, Some(0x15 | 0x25)) => {
                relative(code, base, at + 2).is_some_and(|slot| targets.slots.contains(&slot))
            }
            _ => false,
        };
        let calls = (0..code.len()).filter(|&at| is_call(at));
        calls
            .filter_map(|at| {
                let argument = argument(&code[at.saturating_sub(BEFORE)..at])?;
                Some(ConstantCall { address: base + at as u64, argument })
            })
            .collect()
    }

    /// What is in `edi` at the end: of `mov $N,%edi` and `xor %edi,%edi` the last one counts.
    fn argument(code: &[u8]) -> Option<u32> {
        (0..code.len()).rev().find_map(|at| {
            // With REX.B it is `r15d`.
            let has_prefix = at.checked_sub(1).is_some_and(|before| code[before] & 0xf1 == 0x41);
            match code[at] {
                0xbf if !has_prefix => word(code, at + 1).filter(|_| at + 5 <= code.len()),
                0x31 | 0x33 if code.get(at + 1) == Some(&0xff) && !has_prefix => Some(0),
                _ => None,
            }
        })
    }
}

mod arm64 {
    use super::{CallTargets, ConstantCall, word};
    use std::collections::BTreeSet;

    /// The argument is moved at most so many instructions before the call.
    const BEFORE: usize = 10;

    fn sign_extended(value: u64, bits: u32) -> i64 {
        ((value << (64 - bits)) as i64) >> (64 - bits)
    }

    /// The entries that load one of the slots: `adrp x16, PAGE; ldr x17, [x16, #OFFSET]`, perhaps behind `bti`.
    pub(super) fn entries(code: &[u8], base: u64, slots: &BTreeSet<u64>) -> Vec<u64> {
        let places = (0..code.len()).step_by(4);
        let entries = places.filter_map(|at| {
            let (adrp, ldr) = (word(code, at)?, word(code, at + 4)?);
            if adrp & 0x9f00_001f != 0x9000_0010 || ldr & 0xffc0_03ff != 0xf940_0211 {
                return None;
            }
            let pages = u64::from(((adrp >> 29) & 3) | (((adrp >> 5) & 0x7_ffff) << 2));
            let here = base + at as u64;
            let page = (here & !0xfff).checked_add_signed(sign_extended(pages, 21) << 12)?;
            slots
                .contains(&(page + u64::from(ldr >> 10 & 0xfff) * 8))
                .then_some([here, here.saturating_sub(4)])
        });
        entries.flatten().collect()
    }

    pub(super) fn calls(code: &[u8], base: u64, targets: &CallTargets) -> Vec<ConstantCall> {
        let instructions: Vec<u32> = (0..code.len()).step_by(4).filter_map(|at| word(code, at)).collect();
        let address = |at: usize| base + 4 * at as u64;
        let is_call = |at: usize| {
            let distance = sign_extended(u64::from(instructions[at] & 0x3ff_ffff), 26) * 4;
            // bl, b
            matches!(instructions[at] >> 26, 0b10_0101 | 0b00_0101)
                && address(at).checked_add_signed(distance).is_some_and(|to| targets.entries.contains(&to))
        };
        let calls = (0..instructions.len()).filter(|&at| is_call(at));
        calls
            .filter_map(|at| {
                let before = instructions[at.saturating_sub(BEFORE)..at].iter().rev();
                // Up to another call, which changes the register.
                let mut before = before.take_while(|&&one| one >> 26 != 0b10_0101);
                let argument = before.find_map(|&one| moved(one))?;
                Some(ConstantCall { address: address(at), argument })
            })
            .collect()
    }

    /// `mov w0, #N`, `mov x0, #N`, `mov w0, wzr`.
    fn moved(instruction: u32) -> Option<u32> {
        match instruction & 0xffe0_001f {
            0x5280_0000 | 0xd280_0000 => Some(instruction >> 5 & 0xffff),
            _ => (instruction == 0x2a1f_03e0).then_some(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: u64 = 0x40_0000;

    /// Code that ends with a call of the given target at its end.
    fn with_call(before: &[u8], call: &[u8], target: u64) -> Vec<u8> {
        let end = BASE + (before.len() + call.len() + 4) as u64;
        let distance = (target.wrapping_sub(end) as u32).to_le_bytes();
        [before, call, &distance].concat()
    }

    #[test]
    fn the_last_constant_before_a_call_counts_on_x86_64() {
        let targets = CallTargets { entries: [0x40_1000].into(), slots: [0x40_3018].into() };
        let mov = [0xbf, 6, 0, 0, 0];
        let lea = [0x48, 0x8d, 0x74, 0x24, 0x10];
        let r15 = [0x41, 0xbf, 5, 0, 0, 0];
        for (what, code, expected) in [
            ("a call", with_call(&[&mov[..], &lea].concat(), &[0xe8], 0x40_1000), Some(6)),
            ("a jump", with_call(&mov, &[0xe9], 0x40_1000), Some(6)),
            ("through a slot", with_call(&mov, &[0xff, 0x15], 0x40_3018), Some(6)),
            ("another function", with_call(&mov, &[0xe8], 0x40_1010), None),
            ("zero since", with_call(&[&mov[..], &[0x31, 0xff]].concat(), &[0xe8], 0x40_1000), Some(0)),
            ("another register", with_call(&r15, &[0xe8], 0x40_1000), None),
            ("both", with_call(&[&mov[..], &r15].concat(), &[0xe8], 0x40_1000), Some(6)),
            ("long before", with_call(&[&mov[..], &[0x90; 40]].concat(), &[0xe8], 0x40_1000), None),
        ] {
            let found = x86_64::calls(&code, BASE, &targets);
            assert_eq!(found.first().map(|call| call.argument), expected, "{what}");
            assert!(found.len() <= 1, "{what}");
        }
        // endbr64; jmp *SLOT(%rip)
        let entry = with_call(&[0xf3, 0x0f, 0x1e, 0xfa], &[0xff, 0x25], 0x40_3018);
        assert!(x86_64::entries(&entry, BASE, &targets.slots).contains(&BASE));
        assert!(x86_64::entries(&entry, BASE, &[0x40_3020].into()).is_empty());
    }

    #[test]
    fn the_last_constant_before_a_call_counts_on_arm64() {
        let targets = CallTargets { entries: [BASE + 0x100].into(), slots: [0x41_1ff8].into() };
        let code = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let branch = |kind: u32, at: u32| (kind << 26) | ((0x100 - 4 * at) / 4);
        let (bl, b) = (0b10_0101, 0b00_0101);
        let mov = |n: u32| 0x5280_0000 | (n << 5);
        let add = 0x9100_43e1;
        for (what, words, expected) in [
            ("a call", vec![mov(6), add, branch(bl, 2)], Some(6)),
            ("a jump", vec![mov(5), branch(b, 1)], Some(5)),
            ("the last", vec![mov(6), mov(1), branch(bl, 2)], Some(1)),
            ("zero", vec![0x2a1f_03e0, branch(bl, 1)], Some(0)),
            ("before another call", vec![mov(6), (bl << 26) | 0x40, branch(bl, 2)], None),
            ("another function", vec![mov(6), branch(bl, 2)], None),
        ] {
            let found = arm64::calls(&code(&words), BASE, &targets);
            assert_eq!(found.first().map(|call| call.argument), expected, "{what}");
        }
        // adrp x16, 0x411000; ldr x17, [x16, #0xff8]
        let entry = code(&[0xb000_0090, 0xf947_fe11]);
        assert_eq!(arm64::entries(&entry, BASE, &targets.slots)[..1], [BASE]);
    }

    #[test]
    fn what_the_standard_library_asks_for_is_found() {
        // `_SC_PAGESIZE` of glibc.
        const PAGE_SIZE: u32 = 30;
        let own = std::env::current_exe().expect("a path");
        let calls = constant_calls(&own, "sysconf");
        if cfg!(all(target_arch = "x86_64", target_env = "gnu")) {
            assert!(calls.iter().any(|call| call.argument == PAGE_SIZE), "{calls:?}");
        }
        assert_eq!(constant_calls(&own, "no_such_function"), []);
        assert_eq!(constant_calls(Path::new("/proc/self/status"), "sysconf"), []);
    }
}
