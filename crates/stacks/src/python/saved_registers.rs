//! The registers that a function leaves as it found them: what they held in each frame, by the call frame information of those
//! that it called ("DWARF Debugging Information Format", version 5, 6.4).

use crate::files::ModuleFiles;
use crate::sample::{UserRegisters, UserStack};
use gimli::{
    BaseAddresses, EhFrame, EhFrameHdr, EndianSlice, LittleEndian, Register, RegisterRule, UnwindContext,
    UnwindSection,
};
use std::collections::HashMap;
use std::ops::Range;
use whylate_sys::SAVED_REGISTERS;

/// The frame pointer is one of them: `rbp` ("AMD64 Architecture Processor Supplement", 3.6.2).
const FRAME_POINTER: u16 = 6;
const COUNT: usize = 6;

/// What is known of the registers in one frame: the [`SAVED_REGISTERS`], and the frame pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Registers([Option<u64>; COUNT]);

/// Where a frame has what a register held in its caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Rule {
    /// It was not used.
    #[default]
    Same,
    /// On the stack, so far from where the caller's part begins.
    At(i64),
    Unknown,
}

/// The rules of each place in a file that was come upon.
#[derive(Default)]
pub(super) struct RegisterRules {
    known: HashMap<(usize, u64), [Rule; COUNT]>,
    context: Box<UnwindContext<usize>>,
}

impl Registers {
    /// In the innermost frame.
    pub(super) fn of(registers: &UserRegisters) -> Registers {
        let mut all = [Some(registers.fp); COUNT];
        for (one, saved) in all.iter_mut().zip(registers.saved) {
            *one = Some(saved);
        }
        Registers(all)
    }

    /// Goes on to the caller, whose part of the stack begins at `caller`.
    pub(super) fn restore(&mut self, rules: &[Rule; COUNT], caller: u64, stack: &UserStack<'_>) {
        for (value, rule) in self.0.iter_mut().zip(rules) {
            *value = match *rule {
                Rule::Same => *value,
                Rule::At(offset) => stack.word(caller.wrapping_add_signed(offset)),
                Rule::Unknown => None,
            };
        }
    }

    /// The registers that are known, by their places.
    pub(super) fn known(&self) -> impl Iterator<Item = (usize, u64)> {
        self.0.into_iter().enumerate().filter_map(|(which, value)| Some((which, value?)))
    }
}

impl RegisterRules {
    /// The rules at an address of a file.
    pub(super) fn of(&mut self, files: &ModuleFiles, file: usize, address: u64) -> [Rule; COUNT] {
        let RegisterRules { known, context } = self;
        *known
            .entry((file, address))
            .or_insert_with(|| rules(files, file, address, context).unwrap_or([Rule::Unknown; COUNT]))
    }
}

fn rules(
    files: &ModuleFiles,
    file: usize,
    address: u64,
    context: &mut UnwindContext<usize>,
) -> Option<[Rule; COUNT]> {
    let frames = files.get(file)?.frames()?;
    let start = |range: &Option<Range<u64>>| range.as_ref().map_or(0, |range| range.start);
    let bases = BaseAddresses::default()
        .set_eh_frame(start(&frames.eh_frame_svma))
        .set_eh_frame_hdr(start(&frames.eh_frame_hdr_svma))
        .set_text(start(&frames.text_svma))
        .set_got(start(&frames.got_svma));
    let section = EhFrame::from(EndianSlice::new(frames.eh_frame.as_deref()?, LittleEndian));
    let header = EhFrameHdr::from(EndianSlice::new(frames.eh_frame_hdr.as_deref()?, LittleEndian));
    let header = header.parse(&bases, 8).ok()?;
    let cie = |section: &EhFrame<_>, bases: &BaseAddresses, offset| section.cie_from_offset(bases, offset);
    let row = header.table()?.unwind_info_for_address(&section, &bases, context, address, cie).ok()?;
    let mut found = [Rule::Same; COUNT];
    for (rule, number) in found.iter_mut().zip(SAVED_REGISTERS.iter().copied().chain([FRAME_POINTER])) {
        *rule = match row.register(Register(number)) {
            None | Some(RegisterRule::Undefined | RegisterRule::SameValue) => Rule::Same,
            Some(RegisterRule::Offset(offset)) => Rule::At(offset),
            Some(_) => Rule::Unknown,
        };
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_what_the_frames_below_saved() {
        let sampled = UserRegisters { fp: 60, saved: [10, 20, 30, 40, 50], ..UserRegisters::default() };
        let mut registers = Registers::of(&sampled);
        let words: Vec<u8> = [7u64, 8, 9].iter().flat_map(|word| word.to_ne_bytes()).collect();
        let stack = UserStack { start: 0x1000, bytes: &words };
        // Of the third the place was not copied.
        let rules = [Rule::Same, Rule::At(-16), Rule::At(8), Rule::Unknown, Rule::Same, Rule::At(-24)];
        registers.restore(&rules, 0x1018, &stack);
        let known: Vec<(usize, u64)> = registers.known().collect();
        assert_eq!(known, [(0, 10), (1, 8), (4, 50), (5, 7)]);
    }
}
