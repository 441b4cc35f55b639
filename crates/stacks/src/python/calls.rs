//! Which of the words that the interpreter's loop holds is the address of its next instruction.

use super::code::Instruction;
use std::collections::HashMap;
use whylate_events::CodeLocation;

/// Where the loop's frame has a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Slot {
    /// So many bytes below the end of its part of the stack.
    Stack(u64),
    /// A register, as the loop called.
    Register(usize),
}

/// A call from the loop, with what its slots held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CallId(u32);

/// Calls have offsets in the upper half of the addresses, in which a program has no code.
const OFFSETS: u64 = 0x8000_0000_0000_0000;

impl CallId {
    /// What takes the place of an address in the table of stacks.
    pub(crate) fn offset(self) -> u64 {
        OFFSETS | u64::from(self.0)
    }

    /// The call of an offset of a module that is not the kernel.
    pub(crate) fn of_offset(offset: u64) -> Option<CallId> {
        u32::try_from(offset.checked_sub(OFFSETS)?).ok().map(CallId)
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Call {
    /// The interpreter's file: each has been compiled in its own way.
    file: usize,
    candidates: Vec<(Slot, Instruction)>,
}

/// The calls of all samples.
#[derive(Debug, Default)]
pub(super) struct Calls {
    ids: HashMap<Call, CallId>,
    /// How often a slot held the address of an instruction.
    hits: HashMap<(usize, Slot), u64>,
    /// How many frames of a file were looked at.
    frames: HashMap<usize, u64>,
}

/// After so many frames of a file a slot that never held an instruction is not looked at any more: each look takes time.
const ENOUGH: u64 = 200;

/// Of the hits of the slot with the most: the next instruction is in one that always has one. Another may keep what an earlier
/// call left there.
const ALWAYS: (u64, u64) = (49, 50);

impl Calls {
    /// Begins a frame of a file: whether a slot of it is worth a look.
    pub(super) fn begin(&mut self, file: usize) -> impl Fn(Slot) -> bool {
        let frames = self.frames.entry(file).or_default();
        *frames += 1;
        let is_new = *frames <= ENOUGH;
        let hits = &self.hits;
        move |slot| is_new || hits.contains_key(&(file, slot))
    }

    pub(super) fn add(&mut self, file: usize, candidates: Vec<(Slot, Instruction)>) -> CallId {
        for &(slot, _) in &candidates {
            *self.hits.entry((file, slot)).or_default() += 1;
        }
        let next = CallId(self.ids.len() as u32);
        *self.ids.entry(Call { file, candidates }).or_insert(next)
    }

    /// The location of each call about which its slots agree: of the line, or of the function alone.
    pub(super) fn finish(self) -> HashMap<CallId, CodeLocation> {
        let mut most: HashMap<usize, u64> = HashMap::new();
        for (&(file, _), &hits) in &self.hits {
            let most = most.entry(file).or_default();
            *most = hits.max(*most);
        }
        let is_live = |file: usize, slot: Slot| {
            let hits = self.hits.get(&(file, slot)).copied().unwrap_or(0);
            hits * ALWAYS.1 >= most.get(&file).copied().unwrap_or(0) * ALWAYS.0
        };
        let location = |call: &Call| {
            let live = call.candidates.iter().filter(|&&(slot, _)| is_live(call.file, slot));
            agreed(live.map(|(_, instruction)| instruction))
        };
        self.ids.iter().filter_map(|(call, &id)| Some((id, location(call)?))).collect()
    }
}

fn agreed<'a>(mut instructions: impl Iterator<Item = &'a Instruction>) -> Option<CodeLocation> {
    let first = instructions.next()?;
    let mut line = first.line;
    for other in instructions {
        if other.function != first.function || other.file != first.file {
            return None;
        }
        line = line.filter(|_| other.line == line);
    }
    Some(CodeLocation {
        function: Some(first.function.to_string()),
        file: Some(first.file.to_string()),
        line,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIVE: Slot = Slot::Stack(40);
    const STALE: Slot = Slot::Stack(72);
    const REGISTER: Slot = Slot::Register(4);

    fn at(function: &str, line: u32) -> Instruction {
        Instruction { function: function.into(), file: "/srv/control.py".into(), line: Some(line) }
    }

    /// The function and the line of each call.
    fn found(calls: &[&[(Slot, Instruction)]]) -> Vec<Option<(String, Option<u32>)>> {
        let mut all = Calls::default();
        let ids: Vec<CallId> = calls.iter().map(|call| all.add(3, call.to_vec())).collect();
        let locations = all.finish();
        let of = |id| locations.get(&id).map(|found| (found.function.clone().expect("one"), found.line));
        ids.into_iter().map(of).collect()
    }

    #[test]
    fn the_slot_that_always_has_an_instruction_decides() {
        let calls: [&[_]; 4] = [
            &[(LIVE, at("step", 8))],
            &[(LIVE, at("step", 9)), (STALE, at("step", 8))],
            &[(LIVE, at("log", 3)), (STALE, at("step", 9))],
            &[(LIVE, at("step", 8))],
        ];
        let line = |function: &str, line| Some((function.to_owned(), Some(line)));
        assert_eq!(found(&calls), [line("step", 8), line("step", 9), line("log", 3), line("step", 8)]);
    }

    #[test]
    fn slots_that_disagree_leave_the_function_or_nothing() {
        let both = |stack, register| [(LIVE, stack), (REGISTER, register)];
        let agree = both(at("step", 8), at("step", 8));
        let lines = both(at("step", 9), at("step", 8));
        let functions = both(at("step", 9), at("log", 3));
        let expected = [Some(("step".to_owned(), Some(8))), Some(("step".to_owned(), None)), None];
        assert_eq!(found(&[&agree, &lines, &functions]), expected);
    }

    #[test]
    fn each_file_has_its_own_slots() {
        let mut all = Calls::default();
        for _ in 0..100 {
            all.add(3, vec![(LIVE, at("step", 8))]);
        }
        let other = all.add(4, vec![(STALE, at("log", 3))]);
        assert_eq!(all.finish()[&other].line, Some(3));
    }

    #[test]
    fn calls_have_offsets_that_no_code_has() {
        assert_eq!(CallId::of_offset(CallId(7).offset()), Some(CallId(7)));
        for offset in [0, 0x7fff_ffff_ffff_ffff, 0xffff_ffff_8100_0000] {
            assert_eq!(CallId::of_offset(offset), None, "{offset:#x}");
        }
    }
}
