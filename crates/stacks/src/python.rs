//! The lines of programs in Python, of whose call stacks the interpreter's own functions are all that unwinding finds.
//!
//! From 3.11 on the interpreter's loop, `_PyEval_EvalFrameDefault`, executes a Python function and those that it calls. While it
//! calls something else, it has the address of the next instruction in a register or on its own part of the stack, of which the
//! kernel copies both with each sample; where exactly, each compiler decides anew for each of its calls.
//!
//! ```text
//! frame of the loop ──> words of its stack, registers as it called ──> those that lie in a code object: a Call, with its slots
//! Calls of all samples ──> the slots that always lie in one at this site ──> the line of each Call, if they agree about it
//! ```
//!
//! The code objects are read from the program's memory some milliseconds later: unlike the interpreter's frames they stay where
//! they are, as a rule. Functions that the same frame of the loop called from are not seen.

mod calls;
mod code;
mod interpreter;
mod line_table;
mod saved_registers;

use crate::frame::UnwoundFrame;
use crate::sample::{UserRegisters, UserStack};
use crate::space::Region;
use crate::unwind::Unwinder;
use calls::{CallId, Calls, Site, Slot};
use code::{CodeReader, Instruction};
use interpreter::Interpreter;
use saved_registers::{RegisterRules, Registers};
use std::collections::{HashMap, HashSet};
use whylate_base::{Ns, Tid};
use whylate_events::{AddressId, CodeAddress, CodeLocation, Stacks};

/// Reads which instructions of Python the interpreter's frames are at.
#[derive(Default)]
pub(crate) struct PythonReader {
    /// By the file's number.
    interpreters: HashMap<usize, Option<Interpreter>>,
    rules: RegisterRules,
    readers: HashMap<Tid, Option<CodeReader>>,
    calls: Calls,
}

/// A loop's own part of the stack takes some hundred bytes.
const LARGEST_FRAME: u64 = 4096;

impl PythonReader {
    /// What the loop's frames among `frames` call from, by their places there.
    pub(crate) fn calls(
        &mut self,
        unwinder: &Unwinder,
        (pid, time): (Tid, Ns),
        frames: &[UnwoundFrame],
        sample: (&UserRegisters, &UserStack<'_>),
    ) -> Vec<(usize, CallId)> {
        let mut found = Vec::new();
        // Of the innermost frame it is not known which of its values are up to date: it calls nothing. Of the outermost
        // one it is not known where it ends.
        let is_loop = |depth: &usize| *depth > 0 && self.is_loop(unwinder, pid, frames[*depth].address);
        let loops: Vec<usize> = (0..frames.len().saturating_sub(1)).filter(is_loop).collect();
        let Some(&outermost) = loops.last() else { return found };
        let mut registers = Registers::of(sample.0);
        for (depth, pair) in frames.windows(2).enumerate().take(outermost + 1) {
            let [frame, caller] = pair else { continue };
            let Some(region) = unwinder.region(pid, frame.address) else { return found };
            if loops.contains(&depth)
                && let Some(call) = self.call(region, (pid, time), (frame, caller), &registers, sample.1)
            {
                found.push((depth, call));
            }
            let address = frame.address.wrapping_sub(region.bias);
            let rules = self.rules.of(unwinder.files(), region.file, address);
            registers.restore(&rules, caller.stack_pointer, sample.1);
        }
        found
    }

    /// A process began another program, or ended.
    pub(crate) fn forget(&mut self, pid: Tid) {
        self.readers.remove(&pid);
    }

    /// The function and line of each call that is known.
    pub(crate) fn finish(self) -> HashMap<CallId, CodeLocation> {
        self.calls.finish()
    }

    fn is_loop(&mut self, unwinder: &Unwinder, pid: Tid, address: u64) -> bool {
        let Some(region) = unwinder.region(pid, address) else { return false };
        let interpreter = self.interpreters.entry(region.file).or_insert_with(|| {
            let file = unwinder.files().get(region.file)?;
            Interpreter::of(file)
        });
        let address = address.wrapping_sub(region.bias);
        interpreter.as_ref().is_some_and(|interpreter| interpreter.evaluates.contains(&address))
    }

    fn call(
        &mut self,
        region: Region,
        (pid, time): (Tid, Ns),
        (frame, caller): (&UnwoundFrame, &UnwoundFrame),
        registers: &Registers,
        stack: &UserStack<'_>,
    ) -> Option<CallId> {
        let interpreter = self.interpreters.get(&region.file)?.as_ref()?;
        let reader = self.readers.entry(pid).or_insert_with(|| CodeReader::open(pid)).as_mut()?;
        let code_type = interpreter.code_type.wrapping_add(region.bias);
        let (start, end) = (frame.stack_pointer, caller.stack_pointer);
        if end.checked_sub(start).is_none_or(|size| size > LARGEST_FRAME) {
            return None;
        }
        let on_stack = (start..end).step_by(8).filter_map(|address| {
            // Counted from the end: what the loop pushes for a call does not move it.
            Some((Slot::Stack(end - address), stack.word(address)?))
        });
        let in_registers = registers.known().map(|(which, word)| (Slot::Register(which), word));
        let site = Site { file: region.file, address: frame.address.wrapping_sub(region.bias) };
        self.calls.begin(site);
        let candidates: Vec<(Slot, Instruction)> = on_stack
            .chain(in_registers)
            .filter(|&(slot, word)| self.calls.is_worth_a_look(site, slot) && !stack.contains(word))
            .filter_map(|(slot, word)| {
                Some((slot, reader.instruction(word, time, code_type, interpreter.layout)?))
            })
            .collect();
        (!candidates.is_empty()).then(|| self.calls.add(site, candidates))
    }
}

/// Gives the calls among the addresses of stacks their locations, and takes out those that are not known.
pub(crate) fn name(stacks: &mut Stacks, locations: &HashMap<CallId, CodeLocation>) {
    let mut unknown = HashSet::new();
    for (address, id) in stacks.addresses.iter_mut().zip(0..) {
        let Some(call) = CallId::of_offset(address.offset) else { continue };
        match locations.get(&call) {
            Some(location) => address.locations = vec![location.clone()],
            None => {
                unknown.insert(AddressId(id));
                *address = CodeAddress::default();
            }
        }
    }
    for stack in &mut stacks.stacks {
        stack.retain(|address| !unknown.contains(address));
    }
}
