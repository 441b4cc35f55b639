//! Call frame information of any content, made safe to execute.
//!
//! framehop evaluates the DWARF expressions in it without a limit of steps, and one that jumps backwards may never end
//! (`DW_OP_skip`, `DW_OP_bra`: "DWARF Debugging Information Format", version 5, 2.5.1.5). No compiler needs that. So every
//! expression is looked through once, when a file is read: what jumps backwards, or into the middle of an operation, is
//! changed into an expression that fails, and the stack ends there. This is proof only for entries that were looked
//! through: [`Entries`] has their places.

use gimli::{
    BaseAddresses, CallFrameInstruction, CallFrameInstructionIter, CieOrFde, CommonInformationEntry,
    Encoding, EndianSlice, Expression, LittleEndian, Operation, UnwindExpression, UnwindOffset,
    UnwindSection,
};
use std::collections::{HashMap, HashSet};

type Bytes<'a> = EndianSlice<'a, LittleEndian>;

/// `DW_OP` 0 is reserved: an expression that begins with it has no value.
const NO_OPERATION: u8 = 0;

/// The longest instructions of an entry: they are executed for each frame that is unwound. Compilers write some hundred
/// bytes, for functions that save many registers.
const MOST_INSTRUCTIONS: usize = 64 << 10;

/// Which of the two sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameSection {
    EhFrame,
    DebugFrame,
}

/// The entries of a section whose expressions all end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entries {
    /// Offsets of the entries of functions, ascending.
    pub(crate) functions: Vec<usize>,
    /// Whether these are all that a reader of the section comes upon.
    pub(crate) is_complete: bool,
}

impl Entries {
    /// Whether the entry of a function begins at this offset.
    pub(crate) fn contains(&self, offset: usize) -> bool {
        self.functions.binary_search(&offset).is_ok()
    }
}

/// Changes each expression of a section that might not end, and returns the entries that can be executed.
pub(crate) fn disarm(bytes: &mut [u8], section: FrameSection, bases: &BaseAddresses) -> Entries {
    let input = EndianSlice::new(bytes, LittleEndian);
    // As framehop sets them.
    let seen = match section {
        FrameSection::EhFrame => {
            let mut section = gimli::EhFrame::from(input);
            section.set_address_size(8);
            look_through(&section, bases)
        }
        FrameSection::DebugFrame => {
            let mut section = gimli::DebugFrame::from(input);
            section.set_address_size(8);
            look_through(&section, bases)
        }
    };
    for offset in seen.endless {
        if let Some(byte) = bytes.get_mut(offset) {
            *byte = NO_OPERATION;
        }
    }
    seen.entries
}

#[derive(Default)]
struct Seen {
    entries: Entries,
    /// Where expressions begin that might not end.
    endless: Vec<usize>,
}

fn look_through<'a, S>(section: &S, bases: &BaseAddresses) -> Seen
where
    S: UnwindSection<Bytes<'a>>,
{
    let mut seen = Seen::default();
    let mut common = HashMap::new();
    let mut entries = section.entries(bases);
    let mut is_complete = true;
    loop {
        match entries.next() {
            Ok(Some(CieOrFde::Cie(entry))) => {
                if seen.instructions(section, entry.instructions(section, bases), entry.encoding()) {
                    common.insert(entry.offset(), entry);
                }
            }
            Ok(Some(CieOrFde::Fde(partial))) => {
                let its_common = common.get(&UnwindOffset::into(partial.cie_offset()));
                let parse =
                    |known: &CommonInformationEntry<_>| partial.parse(|_, _, _| Ok(known.clone())).ok();
                let entry = its_common.and_then(parse);
                let is_bounded = entry.as_ref().is_some_and(|entry| {
                    let encoding = entry.cie().encoding();
                    seen.instructions(section, entry.instructions(section, bases), encoding)
                });
                match entry.filter(|_| is_bounded) {
                    Some(entry) => seen.entries.functions.push(entry.offset()),
                    None => is_complete = false,
                }
            }
            Ok(None) => break,
            Err(_) => {
                is_complete = false;
                break;
            }
        }
    }
    seen.entries.is_complete = is_complete;
    seen
}

impl Seen {
    /// Notes the expressions among the instructions of an entry that might not end. False where there are more instructions
    /// than any compiler writes. At one that is unknown they end: none behind it is executed.
    fn instructions<'a, S>(
        &mut self,
        section: &S,
        mut instructions: CallFrameInstructionIter<'_, Bytes<'a>>,
        encoding: Encoding,
    ) -> bool
    where
        S: UnwindSection<Bytes<'a>>,
    {
        let mut count = 0;
        while let Ok(Some(instruction)) = instructions.next() {
            count += 1;
            if count > MOST_INSTRUCTIONS {
                return false;
            }
            let expression = match instruction {
                CallFrameInstruction::DefCfaExpression { expression }
                | CallFrameInstruction::Expression { expression, .. }
                | CallFrameInstruction::ValExpression { expression, .. } => expression,
                _ => continue,
            };
            if expression.length > MOST_INSTRUCTIONS {
                return false;
            }
            let UnwindExpression { offset, .. } = expression;
            if expression.get(section).is_ok_and(|expression| !ends(expression, encoding)) {
                self.endless.push(offset);
            }
        }
        true
    }
}

/// Whether an expression ends: each of its jumps leads forwards, to the beginning of an operation.
fn ends(expression: Expression<Bytes<'_>>, encoding: Encoding) -> bool {
    let length = expression.0.len();
    let mut rest = expression.0;
    let mut begins = HashSet::from([length]);
    let mut jumps = Vec::new();
    while !rest.is_empty() {
        begins.insert(length - rest.len());
        let Ok(operation) = Operation::parse(&mut rest, encoding) else { break };
        if let Operation::Bra { target } | Operation::Skip { target } = operation {
            jumps.push((length - rest.len(), target));
        }
    }
    jumps.into_iter().all(|(from, distance)| {
        let to = usize::try_from(distance).ok().and_then(|distance| from.checked_add(distance));
        to.is_some_and(|to| begins.contains(&to))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gimli::Format;

    const ENCODING: Encoding = Encoding { address_size: 8, format: Format::Dwarf32, version: 1 };

    #[test]
    fn only_what_jumps_forwards_ends() {
        for (what, expression, expected) in [
            ("nothing", &[][..], true),
            // That of every PLT: breg7 8; breg16 0; lit15; and; lit11; ge; lit3; shl; plus.
            ("a PLT", &[0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22], true),
            ("skip to the end", &[0x2f, 0, 0], true),
            ("skip over one", &[0x2f, 1, 0, 0x30, 0x31], true),
            ("bra over one", &[0x30, 0x28, 1, 0, 0x30, 0x31], true),
            ("skip to itself", &[0x2f, 0xfd, 0xff], false),
            ("bra backwards", &[0x30, 0x31, 0x28, 0xfb, 0xff], false),
            ("breg7 again and again", &[0x77, 0, 0x2f, 0xfb, 0xff], false),
            ("skip beyond the end", &[0x2f, 1, 0], false),
            // Its constant is a jump backwards.
            ("skip into a constant", &[0x2f, 1, 0, 0x0c, 0x2f, 0xfd, 0xff, 0x30], false),
            // Behind what is no operation there may be any.
            ("skip over what is none", &[0x2f, 1, 0, 0x00, 0x2f, 0xfd, 0xff], false),
            ("cut off", &[0x0c, 1], true),
        ] {
            let expression = Expression(EndianSlice::new(expression, LittleEndian));
            assert_eq!(ends(expression, ENCODING), expected, "{what}");
        }
    }

    /// An entry of `.eh_frame`: its length, the distance to its CIE, and the rest.
    fn entry(section: &mut Vec<u8>, common: Option<usize>, rest: &[u8]) -> usize {
        let offset = section.len();
        let rest = [rest, &vec![0; rest.len().next_multiple_of(4) - rest.len()]].concat();
        section.extend((rest.len() as u32 + 4).to_le_bytes());
        let pointer = common.map_or(0, |common| (section.len() - common) as u32);
        section.extend(pointer.to_le_bytes());
        section.extend(rest);
        offset
    }

    /// Version 1, no augmentation, code by 1, data by -8, return address in register 16; then `instructions`.
    fn common(instructions: &[u8]) -> Vec<u8> {
        [&[1, 0, 1, 0x78, 16], instructions].concat()
    }

    /// From an address, 16 bytes; then `instructions`.
    fn function(address: u64, instructions: &[u8]) -> Vec<u8> {
        [&address.to_le_bytes(), &16u64.to_le_bytes(), instructions].concat()
    }

    /// `DW_CFA_def_cfa_expression`: skip to itself.
    const LOOP: &[u8] = &[0x0f, 3, 0x2f, 0xfd, 0xff];
    /// `DW_CFA_val_expression` of register 6: the same.
    const LOOP_OF_REGISTER: &[u8] = &[0x16, 6, 3, 0x2f, 0xfd, 0xff];
    /// `DW_CFA_def_cfa` register 7 plus 8.
    const USUAL: &[u8] = &[0x0c, 7, 8];

    #[test]
    fn expressions_that_loop_fail_and_all_else_stays() {
        let mut section = Vec::new();
        let plain = entry(&mut section, None, &common(USUAL));
        let looping = entry(&mut section, None, &common(LOOP));
        let functions = [
            entry(&mut section, Some(plain), &function(0x1000, USUAL)),
            entry(&mut section, Some(plain), &function(0x2000, LOOP)),
            entry(&mut section, Some(plain), &function(0x3000, LOOP_OF_REGISTER)),
            entry(&mut section, Some(looping), &function(0x4000, USUAL)),
        ];
        let mut disarmed = section.clone();
        let entries = disarm(&mut disarmed, FrameSection::EhFrame, &BaseAddresses::default());
        assert!(entries.is_complete, "{entries:?}");
        assert_eq!(entries.functions, functions);
        assert!(entries.contains(functions[1]) && !entries.contains(functions[1] + 4));
        let changed: Vec<(u8, u8)> = section
            .iter()
            .zip(&disarmed)
            .filter(|(was, is)| was != is)
            .map(|(&was, &is)| (was, is))
            .collect();
        assert_eq!(changed, [(0x2f, 0); 3]);
    }

    #[test]
    fn an_entry_that_was_not_looked_through_is_not_listed() {
        let bases = BaseAddresses::default();
        let mut section = Vec::new();
        let plain = entry(&mut section, None, &common(USUAL));
        let first = entry(&mut section, Some(plain), &function(0x1000, USUAL));
        // Its CIE is inside of another entry.
        let hidden = [&24u32.to_le_bytes()[..], &0u32.to_le_bytes(), &common(LOOP)].concat();
        let outer = entry(&mut section, Some(plain), &function(0x2000, &hidden));
        entry(&mut section, Some(outer + 24), &function(0x3000, USUAL));
        let entries = disarm(&mut section.clone(), FrameSection::EhFrame, &bases);
        assert_eq!((entries.functions, entries.is_complete), (vec![first, outer], false));
        // More instructions than any compiler writes: DW_CFA_nop.
        let mut long = Vec::new();
        let plain = entry(&mut long, None, &common(USUAL));
        entry(&mut long, Some(plain), &function(0x1000, &vec![0; MOST_INSTRUCTIONS + 1]));
        assert_eq!(disarm(&mut long, FrameSection::EhFrame, &bases), Entries::default());
        for cut in 1..section.len() {
            let entries = disarm(&mut section.clone()[..cut], FrameSection::EhFrame, &bases);
            assert!(entries.functions.iter().all(|offset| [first, outer].contains(offset)), "{cut}");
        }
    }
}
