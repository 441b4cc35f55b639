//! Which of the words that the interpreter's loop holds is the address of its next instruction.

use super::code::Instruction;
use std::collections::{HashMap, HashSet};
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

/// An instruction of the loop that calls: each compiler, and each place in the loop, has the next instruction somewhere else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Site {
    /// The interpreter's file.
    pub(super) file: usize,
    pub(super) address: u64,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Call {
    site: Site,
    candidates: Vec<(Slot, Instruction)>,
}

/// The calls of all samples.
#[derive(Debug, Default)]
pub(super) struct Calls {
    ids: HashMap<Call, CallId>,
    /// How many frames of a site were looked at, and how often a slot held the address of an instruction.
    frames: HashMap<Site, u64>,
    hits: HashMap<(Site, Slot), u64>,
}

/// After so many frames of a site a slot that never held an instruction is not looked at any more: each look takes time.
const ENOUGH: u64 = 50;

/// Of the frames of a site: the slot with the next instruction always has one. Another may keep what an earlier call left there.
const ALWAYS: (u64, u64) = (49, 50);

impl Calls {
    /// Begins a frame of a site.
    pub(super) fn begin(&mut self, site: Site) {
        *self.frames.entry(site).or_default() += 1;
    }

    /// Whether a slot of the frame that was begun is worth a look.
    pub(super) fn is_worth_a_look(&self, site: Site, slot: Slot) -> bool {
        self.frames.get(&site).is_none_or(|&frames| frames <= ENOUGH) || self.hits.contains_key(&(site, slot))
    }

    pub(super) fn add(&mut self, site: Site, candidates: Vec<(Slot, Instruction)>) -> CallId {
        for &(slot, _) in &candidates {
            *self.hits.entry((site, slot)).or_default() += 1;
        }
        let next = CallId(self.ids.len() as u32);
        *self.ids.entry(Call { site, candidates }).or_insert(next)
    }

    /// The location of each call about which its slots agree: of the line, or of the function alone.
    pub(super) fn finish(self) -> HashMap<CallId, CodeLocation> {
        let most = self.hits.iter().fold(HashMap::new(), |mut most, (&(site, _), &hits)| {
            let of_site: &mut u64 = most.entry(site).or_default();
            *of_site = hits.max(*of_site);
            most
        });
        let is_live = |site: Site, slot: Slot| {
            let hits = self.hits.get(&(site, slot)).copied().unwrap_or(0);
            hits * ALWAYS.1 >= most.get(&site).copied().unwrap_or(0) * ALWAYS.0
        };
        let live = |call: &Call| -> Vec<(Slot, Instruction)> {
            call.candidates.iter().filter(|&&(slot, _)| is_live(call.site, slot)).cloned().collect()
        };
        let calls: Vec<LiveCall> =
            self.ids.iter().map(|(call, &id)| (id, call.site.file, live(call))).collect();
        let outvoted: HashSet<(usize, Slot)> =
            calls.iter().filter_map(|(_, file, live)| Some((*file, outvoted(live)?))).collect();
        let location = |file: usize, live: &[(Slot, Instruction)]| {
            let trusted = live.iter().filter(|&&(slot, _)| !outvoted.contains(&(file, slot)));
            agreed(trusted.map(|(_, instruction)| instruction))
        };
        calls.iter().filter_map(|(id, file, live)| Some((*id, location(*file, live)?))).collect()
    }
}

/// A call, its interpreter's file, and those of its slots that always have an instruction.
type LiveCall = (CallId, usize, Vec<(Slot, Instruction)>);

/// The slot that holds another instruction than two or more that agree, which keeps what an earlier call left there: it is trusted
/// nowhere in this file.
fn outvoted(live: &[(Slot, Instruction)]) -> Option<Slot> {
    live.iter().find_map(|(slot, instruction)| {
        let mut others = live.iter().filter(|(other, _)| other != slot).map(|(_, instruction)| instruction);
        let first = others.next()?;
        let (mut count, mut agree) = (1, true);
        for other in others {
            count += 1;
            agree &= other == first;
        }
        (agree && count >= 2 && first != instruction).then_some(*slot)
    })
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

    const SITE: Site = Site { file: 3, address: 0x40 };

    /// The function and the line of each call of one site.
    fn found(calls: &[&[(Slot, Instruction)]]) -> Vec<Option<(String, Option<u32>)>> {
        let mut all = Calls::default();
        let ids: Vec<CallId> = calls.iter().map(|call| all.add(SITE, call.to_vec())).collect();
        let locations = all.finish();
        let of = |id| locations.get(&id).map(|found| (found.function.clone().expect("one"), found.line));
        ids.into_iter().map(of).collect()
    }

    fn line(function: &str, line: u32) -> Option<(String, Option<u32>)> {
        Some((function.to_owned(), Some(line)))
    }

    #[test]
    fn the_slot_that_always_has_an_instruction_decides() {
        let calls: [&[_]; 4] = [
            &[(LIVE, at("step", 8))],
            &[(LIVE, at("step", 9)), (STALE, at("step", 8))],
            &[(LIVE, at("log", 3)), (STALE, at("step", 9))],
            &[(LIVE, at("step", 8))],
        ];
        assert_eq!(found(&calls), [line("step", 8), line("step", 9), line("log", 3), line("step", 8)]);
    }

    #[test]
    fn slots_that_disagree_leave_the_function_or_nothing() {
        let both = |stack, register| [(LIVE, stack), (REGISTER, register)];
        let agree = both(at("step", 8), at("step", 8));
        let lines = both(at("step", 9), at("step", 8));
        let functions = both(at("step", 9), at("log", 3));
        assert_eq!(
            found(&[&agree, &lines, &functions]),
            [line("step", 8), Some(("step".to_owned(), None)), None]
        );
    }

    #[test]
    fn a_slot_that_two_others_outvote_is_trusted_nowhere() {
        let three = [(LIVE, at("main", 8)), (STALE, at("log", 6)), (REGISTER, at("main", 8))];
        assert_eq!(found(&[&three]), [line("main", 8)]);
        let mut all = Calls::default();
        all.add(SITE, three.to_vec());
        let elsewhere = Site { address: 0x80, ..SITE };
        let two = all.add(elsewhere, vec![(Slot::Stack(312), at("log", 5)), (STALE, at("log", 6))]);
        let alone = all.add(Site { address: 0xc0, ..SITE }, vec![(STALE, at("log", 6))]);
        let other_file = all.add(Site { file: 4, ..SITE }, vec![(STALE, at("log", 6))]);
        let locations = all.finish();
        assert_eq!(locations[&two].line, Some(5));
        assert_eq!(locations.get(&alone), None, "what is live there was not seen");
        assert_eq!(locations[&other_file].line, Some(6));
    }

    #[test]
    fn each_site_has_its_own_slots() {
        let mut all = Calls::default();
        for _ in 0..100 {
            all.add(SITE, vec![(LIVE, at("step", 8))]);
        }
        let other = all.add(Site { address: 0x80, ..SITE }, vec![(STALE, at("log", 3))]);
        assert_eq!(all.finish()[&other].line, Some(3));
    }

    #[test]
    fn a_slot_without_instructions_is_looked_at_for_some_time() {
        let mut all = Calls::default();
        for _ in 0..ENOUGH {
            all.begin(SITE);
            assert!(all.is_worth_a_look(SITE, STALE));
            all.add(SITE, vec![(LIVE, at("step", 8))]);
        }
        all.begin(SITE);
        assert!(all.is_worth_a_look(SITE, LIVE) && !all.is_worth_a_look(SITE, STALE));
        assert!(all.is_worth_a_look(Site { address: 0x80, ..SITE }, STALE));
    }

    #[test]
    fn calls_have_offsets_that_no_code_has() {
        assert_eq!(CallId::of_offset(CallId(7).offset()), Some(CallId(7)));
        for offset in [0, 0x7fff_ffff_ffff_ffff, 0xffff_ffff_8100_0000] {
            assert_eq!(CallId::of_offset(offset), None, "{offset:#x}");
        }
    }
}
