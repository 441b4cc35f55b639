//! By which function of the C library a thread waits, by the program's own code. Where the library is stripped, the
//! functions that wait have no names, and one that ends in a jump to them is not in the stack.

use super::facts::Observation;
use super::futex::FutexCall;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use whylate_events::{AddressId, ModuleId, ModuleKind, StackId};
use whylate_stacks::called_functions;

/// The functions that wait for a semaphore (sem_wait(3), sem_clockwait(3)).
const WAITS: [&str; 3] = ["sem_wait", "sem_timedwait", "sem_clockwait"];

/// The functions that the program's frames call in the stacks of waits, by address.
pub(super) fn find(observation: &Observation) -> HashMap<AddressId, &'static str> {
    let stacks = &observation.stacks;
    let waits = observation.path_calls().map(|(_, call)| call);
    let waits = waits.filter(|call| FutexCall::of(call).is_some_and(|futex| futex.is_wait()));
    let waits: BTreeSet<StackId> = waits.filter_map(|call| call.stack).collect();
    let mut by_module: BTreeMap<ModuleId, Vec<(u64, AddressId)>> = BTreeMap::new();
    for &stack in &waits {
        let mut callers = stacks.stacks.get(stack.0 as usize).into_iter().flatten().filter_map(|&id| {
            let address = stacks.addresses.get(id.0 as usize)?;
            let module = address.module?;
            let is_own = stacks.modules.get(module.0 as usize)?.kind == ModuleKind::Program;
            is_own.then_some((module, address.offset, id))
        });
        // The innermost one calls the library.
        if let Some((module, offset, id)) = callers.next() {
            by_module.entry(module).or_default().push((offset, id));
        }
    }
    let mut names = HashMap::new();
    for (module, addresses) in by_module {
        let Some(module) = stacks.modules.get(module.0 as usize) else { continue };
        let offsets: Vec<u64> = addresses.iter().map(|(offset, _)| *offset).collect();
        let called = called_functions(Path::new(&module.path), &offsets, &WAITS);
        names.extend(addresses.iter().filter_map(|(offset, id)| Some((*id, *called.get(offset)?))));
    }
    names
}
