//! Where a program's code reads a coarse clock. The reads make no system call, so that no event shows them.

use super::facts::{CoarseRead, Observation};
use super::interpreter;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use whylate_base::SourceLocation;
use whylate_events::{AddressId, CodeAddress, CodeModule, ModuleId, ModuleKind, StackId, Stacks};
use whylate_stacks::{ModuleFiles, SymbolOptions, constant_calls, symbolize};

/// The clocks of `include/uapi/linux/time.h` that step with the tick.
const COARSE: [(u32, &str); 2] = [(5, "CLOCK_REALTIME_COARSE"), (6, "CLOCK_MONOTONIC_COARSE")];

/// The calls of clock_gettime(2) for a coarse clock in the program files that the real-time threads ran.
pub(super) fn find(observation: &Observation, debug_dirs: &[PathBuf]) -> Vec<CoarseRead> {
    let reads = modules(observation).into_iter().flat_map(|module| in_module(module, debug_dirs));
    reads.collect()
}

/// The program's own files with code in the stacks of real-time threads.
fn modules(observation: &Observation) -> Vec<&CodeModule> {
    let stacks = &observation.stacks;
    let of_realtime = |tid| observation.threads.get(&tid).is_some_and(|thread| thread.wants_realtime());
    let samples = stacks.samples.iter().filter(|sample| of_realtime(sample.tid));
    let seen: BTreeSet<StackId> = samples.map(|sample| sample.stack).collect();
    let addresses = seen.iter().filter_map(|stack| stacks.stacks.get(stack.0 as usize)).flatten();
    let ids: BTreeSet<ModuleId> =
        addresses.filter_map(|address| stacks.addresses.get(address.0 as usize)?.module).collect();
    let modules = ids.into_iter().filter_map(|id| stacks.modules.get(id.0 as usize));
    modules
        .filter(|module| module.kind == ModuleKind::Program && module.path.starts_with('/'))
        .filter(|module| !interpreter::is_one(module))
        .collect()
}

fn in_module(module: &CodeModule, debug_dirs: &[PathBuf]) -> Vec<CoarseRead> {
    let calls = constant_calls(Path::new(&module.path), "clock_gettime").into_iter();
    let coarse: Vec<(u64, &'static str)> = calls
        .filter_map(|call| {
            let (_, clock) = COARSE.iter().find(|(number, _)| *number == call.argument)?;
            Some((call.address, *clock))
        })
        .collect();
    let address = |&(offset, _): &(u64, &str)| CodeAddress {
        module: Some(ModuleId(0)),
        offset,
        ..CodeAddress::default()
    };
    let mut stacks = Stacks {
        modules: vec![module.clone()],
        addresses: coarse.iter().map(address).collect(),
        stacks: (0..coarse.len() as u32).map(|index| vec![AddressId(index)]).collect(),
        ..Stacks::default()
    };
    let options = SymbolOptions { debug_dirs: debug_dirs.to_vec(), kallsyms: None };
    symbolize(&mut stacks, &ModuleFiles::default(), &options);
    let place = |index: usize| {
        let source = stacks.own_frame(StackId(index as u32))?.source();
        (!is_of_library(&source)).then_some(source)
    };
    coarse
        .iter()
        .enumerate()
        .filter_map(|(index, &(_, clock))| Some(CoarseRead { clock, location: place(index)? }))
        .collect()
}

/// True for a function of the C library in a program that is linked with it statically: it has no line there, and one of the
/// names that are reserved for the library (C17, 7.1.3).
fn is_of_library(source: &SourceLocation) -> bool {
    source.file.is_none() && source.function.as_deref().is_some_and(|name| name.starts_with("__"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_reserved_name_without_a_line_is_the_librarys() {
        let source = |function: &str, file: Option<&str>| SourceLocation {
            function: Some(function.to_owned()),
            file: file.map(str::to_owned),
            line: None,
            module: None,
            offset: None,
        };
        assert!(is_of_library(&source("__netlink_request", None)));
        assert!(!is_of_library(&source("__netlink_request", Some("a.c"))));
        assert!(!is_of_library(&source("read_clock", None)));
    }
}
