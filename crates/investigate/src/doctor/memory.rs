//! What kind of memory a page fault touched: by the program's own calls, and by the looks at its mappings.

use super::call_flags::{MAP_ANONYMOUS, MAP_STACK};
use super::calls::SystemCall;
use super::facts::{Call, Fault, FaultCause, MappedRange, Observation};
use std::collections::HashMap;
use whylate_base::{Ns, Tid};

/// A change of a process's memory by one of its calls.
#[derive(Clone, Copy, Debug)]
struct Change {
    at: Ns,
    start: u64,
    end: u64,
    kind: ChangeKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChangeKind {
    /// Anonymous memory for a thread's stack.
    Stack,
    /// Other anonymous memory.
    Anonymous,
    /// A file.
    File,
    /// Given back.
    Released,
}

/// `include/uapi/asm-generic/mman-common.h`
const MADV_DONTNEED: u64 = 4;
const MADV_FREE: u64 = 8;
const PAGE: u64 = 4096;

/// Finds the cause of every fault.
pub(super) fn find_causes(observation: &mut Observation) {
    let memory = MemoryMap::new(observation);
    let causes: Vec<_> = observation.faults.iter().map(|fault| memory.cause(fault)).collect();
    for (fault, cause) in observation.faults.iter_mut().zip(causes) {
        fault.cause = cause;
    }
}

/// The memory of all processes of an observation.
struct MemoryMap<'a> {
    observation: &'a Observation,
    changes: HashMap<Tid, Vec<Change>>,
}

impl<'a> MemoryMap<'a> {
    fn new(observation: &'a Observation) -> MemoryMap<'a> {
        let mut changes: HashMap<Tid, Vec<Change>> = HashMap::new();
        let mut breaks: HashMap<Tid, u64> = HashMap::new();
        for call in &observation.calls {
            let Some(pid) = observation.threads.get(&call.tid).map(|thread| thread.pid) else { continue };
            if let Some(change) = change(call, breaks.entry(pid).or_default()) {
                changes.entry(pid).or_default().push(change);
            }
        }
        MemoryMap { observation, changes }
    }

    /// Why a fault happened; `None` where what is there is not known, or is the kernel's own.
    fn cause(&self, fault: &Fault) -> Option<FaultCause> {
        let pid = self.observation.threads.get(&fault.tid)?.pid;
        let range = self.range(pid, fault);
        let path = range.map(|range| range.path.as_str()).unwrap_or_default();
        if path.starts_with("[v") || path.starts_with("[uprobes") {
            return None;
        }
        let is_file = range.is_some() && path.starts_with('/') && !is_memory_file(path);
        if is_file && range.is_some_and(|range| range.is_shared) {
            return Some(FaultCause::File);
        }
        if fault.is_write_to_present == Some(true) {
            return Some(FaultCause::CopyOnWrite);
        }
        let last = self.last_change(pid, fault);
        match last.map(|change| change.kind) {
            Some(ChangeKind::Stack) => return Some(FaultCause::Stack),
            Some(ChangeKind::Anonymous | ChangeKind::Released) => {
                return Some(match last.is_some_and(|last| self.is_regrown(pid, fault, last)) {
                    true => FaultCause::Heap,
                    false => FaultCause::FirstTouch,
                });
            }
            Some(ChangeKind::File) if range.is_none() => return Some(FaultCause::File),
            _ => {}
        }
        match range {
            _ if path == "[stack]" => Some(FaultCause::Stack),
            Some(range) if is_file && range.is_writable => Some(FaultCause::CopyOnWrite),
            Some(_) if is_file => Some(FaultCause::File),
            Some(_) => Some(FaultCause::FirstTouch),
            None => None,
        }
    }

    /// The range of the look after the fault, or else of the last one before.
    fn range(&self, pid: Tid, fault: &Fault) -> Option<&'a MappedRange> {
        let looks = &self.observation.processes.get(&pid)?.mappings;
        let find = |ranges: &'a [MappedRange]| {
            ranges.iter().find(|range| range.start <= fault.address && fault.address < range.end)
        };
        let after = looks.iter().filter(|(at, _)| *at >= fault.time);
        let before = looks.iter().rev().filter(|(at, _)| *at < fault.time);
        after.chain(before).find_map(|(_, ranges)| find(ranges))
    }

    fn changes_of(&self, pid: Tid, fault: &Fault) -> impl Iterator<Item = &Change> {
        let page = fault.address & !(PAGE - 1);
        let changes = self.changes.get(&pid).map(Vec::as_slice).unwrap_or_default();
        let before = changes.partition_point(|change| change.at <= fault.time);
        changes[..before].iter().filter(move |change| change.start <= page && page < change.end)
    }

    fn last_change(&self, pid: Tid, fault: &Fault) -> Option<&Change> {
        self.changes_of(pid, fault).last()
    }

    /// Whether the heap shrinks and grows in the real-time path: the page was obtained there, and the process gives memory
    /// back there.
    fn is_regrown(&self, pid: Tid, fault: &Fault, obtained: &Change) -> bool {
        let Some(path) = self.observation.threads.get(&fault.tid).and_then(|thread| thread.path) else {
            return false;
        };
        let changes = self.changes.get(&pid).map(Vec::as_slice).unwrap_or_default();
        let gives_back = |change: &Change| change.kind == ChangeKind::Released && path.contains(change.at);
        path.contains(obtained.at) && changes.iter().any(gives_back)
    }
}

/// Memory that has a path and no file on a disk (`mm/shmem.c`): what is touched first there is allocated.
fn is_memory_file(path: &str) -> bool {
    ["/dev/shm/", "/memfd:", "/SYSV", "/dev/zero", "/anon_hugepage"]
        .iter()
        .any(|start| path.starts_with(start))
}

fn change(call: &Call, last_break: &mut u64) -> Option<Change> {
    let ret = u64::try_from(call.ret?).ok()?;
    let at = call.end?;
    let [address, length, ..] = call.args;
    let range =
        |start: u64, length: u64, kind| Some(Change { at, start, end: start.saturating_add(length), kind });
    match call.call {
        SystemCall::Mmap => {
            let flags = call.args[3];
            let kind = match (flags & MAP_ANONYMOUS != 0, flags & MAP_STACK != 0) {
                (true, true) => ChangeKind::Stack,
                (true, false) => ChangeKind::Anonymous,
                (false, _) => ChangeKind::File,
            };
            range(ret, length, kind)
        }
        SystemCall::Mremap => range(ret, call.args[2], ChangeKind::Anonymous),
        SystemCall::Munmap => range(address, length, ChangeKind::Released),
        SystemCall::Madvise if matches!(call.args[2], MADV_DONTNEED | MADV_FREE) => {
            range(address, length, ChangeKind::Released)
        }
        SystemCall::Brk => {
            let before = std::mem::replace(last_break, ret);
            match before {
                0 => None,
                _ if ret > before => range(before, ret - before, ChangeKind::Anonymous),
                _ => range(ret, before - ret, ChangeKind::Released),
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::made_up::{PID, call, fault, program};
    use whylate_base::Policy;

    const ANONYMOUS: u64 = 0x22;
    const STACK: u64 = 0x2_0022;
    const AT: u64 = 0x7f00_0000;

    fn range(path: &str, is_writable: bool, is_shared: bool) -> MappedRange {
        MappedRange {
            start: AT,
            end: AT + 0x10_0000,
            offset: 0,
            is_writable,
            is_shared,
            path: path.to_owned(),
        }
    }

    /// The cause of a fault at [`AT`], 10 us after the start, in a program with these mappings and calls.
    fn cause(ranges: &[MappedRange], calls: Vec<Call>, is_write_to_present: bool) -> Option<FaultCause> {
        let mut observation = program(&[(11, Policy::Fifo, 50)]);
        let process = observation.processes.get_mut(&PID).expect("a process");
        process.mappings = vec![(Ns(50_000), ranges.to_vec())];
        observation.calls = calls;
        observation.faults = vec![Fault {
            time: Ns(10_000),
            address: AT + 0x123,
            is_write_to_present: Some(is_write_to_present),
            ..fault(11, FaultCause::FirstTouch, 1)
        }];
        find_causes(&mut observation);
        observation.faults[0].cause
    }

    fn mmap(flags: u64, start: i64) -> Call {
        let mapped = call(11, SystemCall::Mmap, &[0, 0x10_0000, 3, flags], 1);
        Call { ret: Some(AT as i64), start: Ns(start), end: Some(Ns(start + 1)), ..mapped }
    }

    fn munmap(start: i64) -> Call {
        let unmapped = call(11, SystemCall::Munmap, &[AT, 0x10_0000], 1);
        Call { start: Ns(start), end: Some(Ns(start + 1)), ..unmapped }
    }

    #[test]
    fn a_fault_is_of_the_memory_at_its_address() {
        use FaultCause as F;
        for (path, is_writable, is_shared, is_write_to_present, expected) in [
            ("", true, false, false, Some(F::FirstTouch)),
            ("[heap]", true, false, false, Some(F::FirstTouch)),
            ("[stack]", true, false, false, Some(F::Stack)),
            ("/usr/lib/libm.so.6", false, false, false, Some(F::File)),
            ("/opt/control", true, false, false, Some(F::CopyOnWrite)),
            ("/var/data", true, true, false, Some(F::File)),
            ("/var/data", true, true, true, Some(F::File)),
            ("/dev/shm/ring", true, true, false, Some(F::FirstTouch)),
            ("", true, false, true, Some(F::CopyOnWrite)),
            ("[vvar]", false, false, false, None),
        ] {
            let found = cause(&[range(path, is_writable, is_shared)], Vec::new(), is_write_to_present);
            assert_eq!(found, expected, "{path}");
        }
        assert_eq!(cause(&[], Vec::new(), false), None, "nothing is known of the address");
    }

    #[test]
    fn calls_show_what_the_looks_do_not() {
        use FaultCause as F;
        for (what, calls, expected) in [
            ("a thread's stack", vec![mmap(STACK, 10)], Some(F::Stack)),
            ("memory from the start", vec![mmap(ANONYMOUS, 10)], Some(F::FirstTouch)),
            ("memory from the loop", vec![mmap(ANONYMOUS, 5_000)], Some(F::FirstTouch)),
            (
                "a heap that shrinks and grows",
                vec![mmap(ANONYMOUS, 5_000), munmap(6_000), mmap(ANONYMOUS, 7_000)],
                Some(F::Heap),
            ),
            (
                "a start-up that shrinks and grows",
                vec![mmap(ANONYMOUS, 10), munmap(20), mmap(ANONYMOUS, 30)],
                Some(F::FirstTouch),
            ),
            ("mapped only after the fault", vec![mmap(ANONYMOUS, 20_000)], None),
            ("a file", vec![mmap(2, 10)], Some(F::File)),
        ] {
            assert_eq!(cause(&[], calls, false), expected, "{what}");
        }
    }

    #[test]
    fn the_heap_grows_and_shrinks_by_brk() {
        let brk = |end: u64, start: i64| {
            let moved = call(11, SystemCall::Brk, &[end], 1);
            Call { ret: Some(end as i64), start: Ns(start), end: Some(Ns(start + 1)), ..moved }
        };
        let (low, high) = (AT, AT + 0x2_0000);
        assert_eq!(cause(&[], vec![brk(low, 10), brk(high, 20)], false), Some(FaultCause::FirstTouch));
        let regrown = vec![brk(low, 10), brk(high, 20), brk(low, 5_000), brk(high, 6_000)];
        assert_eq!(cause(&[], regrown, false), Some(FaultCause::Heap));
    }
}
