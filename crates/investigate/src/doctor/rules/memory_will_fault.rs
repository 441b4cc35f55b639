//! Memory of a real-time program that is neither locked nor resident, although the program locks other memory.

use super::rule::{DoctorRule, Needs, page};
use crate::doctor::call_flags::MAP_STACK;
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::{Call, MemoryRange, Observation, ThreadFacts};
use crate::doctor::finding::DoctorFinding;
use whylate_base::{Severity, Tid};

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "memory-will-fault", page: page!("memory-will-fault"), needs: Needs::Files, find };

/// Less is the rest of an allocation.
const LEAST: u64 = 64 << 10;

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let of_process = |(&pid, process): (&Tid, &crate::doctor::facts::ProcessFacts)| {
        let (at, memory) = process.memory.as_ref()?;
        // A process that locks nothing has another finding.
        process.most_locked_bytes.filter(|&locked| locked > 0)?;
        let threads = observation.realtime_threads().filter(|thread| thread.pid == pid);
        let thread = threads
            .filter(|thread| thread.path.is_some_and(|path| *at >= path.start))
            .max_by_key(|thread| thread.rank())?;
        let is_one = |range: &&MemoryRange| {
            range.is_data
                && !range.is_locked
                && range.missing() >= LEAST
                && !is_stack(observation, pid, range)
        };
        finding(observation, thread, &memory.iter().filter(is_one).collect::<Vec<_>>())
    };
    observation.processes.iter().filter_map(of_process).collect()
}

fn finding(
    observation: &Observation,
    thread: &ThreadFacts,
    ranges: &[&MemoryRange],
) -> Option<DoctorFinding> {
    let largest = ranges.iter().max_by_key(|range| range.missing())?;
    let missing: u64 = ranges.iter().map(|range| range.missing()).sum();
    let title = format!(
        "{} KiB of the process of {} are neither locked nor in memory yet",
        missing >> 10,
        thread.name()
    );
    let call = mapped_by(observation, thread.pid, largest);
    let found = DoctorFinding::new(RULE.code, Severity::Info, title)
        .of(thread)
        .at(call.and_then(|call| observation.location(call.stack)))
        .times(ranges.len(), None);
    Some(found.because(WHY).fix(FIX))
}

/// The call that mapped a range, where it was seen.
fn mapped_by<'a>(observation: &'a Observation, pid: Tid, range: &MemoryRange) -> Option<&'a Call> {
    let maps = |call: &&Call| {
        let start = call.ret.and_then(|ret| u64::try_from(ret).ok());
        call.call == SystemCall::Mmap
            && start.is_some_and(|start| range.start <= start && start < range.end)
            && observation.threads.get(&call.tid).is_some_and(|thread| thread.pid == pid)
    };
    observation.calls.iter().rev().find(maps)
}

fn is_stack(observation: &Observation, pid: Tid, range: &MemoryRange) -> bool {
    // The lowest page of a thread's stack is its guard, which is a range of its own.
    let with_guard = MemoryRange { start: range.start.saturating_sub(LEAST), ..range.clone() };
    range.stack_of.is_some()
        || mapped_by(observation, pid, &with_guard).is_some_and(|call| call.args[3] & MAP_STACK != 0)
}

const WHY: &str = "whatever touches it first takes a page fault for each page: where that is the real-time thread, in an alarm or \
     in a mode that seldom occurs, its period is late only then";

const FIX: &[&str] = &[
    "mlockall(MCL_CURRENT | MCL_FUTURE), which also locks what is mapped later",
    "MAP_POPULATE | MAP_LOCKED in mmap(), or mlock() of what was allocated",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::made_up::{PID, START, call, program};
    use whylate_base::{Ns, Policy};

    const AT: u64 = 0x7f00_0000;

    fn range() -> MemoryRange {
        MemoryRange {
            start: AT,
            end: AT + (1 << 20),
            resident: 4096,
            is_locked: false,
            is_data: true,
            stack_of: None,
        }
    }

    fn lines(range: MemoryRange, at: i64, locked: u64, flags: u64) -> Vec<Option<u32>> {
        let mut observation = program(&[(11, Policy::Fifo, 50)]);
        let process = observation.processes.get_mut(&PID).expect("a process");
        process.memory = Some((Ns(at), vec![range]));
        process.most_locked_bytes = Some(locked);
        let mapped = call(11, SystemCall::Mmap, &[0, 1 << 20, 3, flags], 3);
        observation.calls = vec![Call { ret: Some(AT as i64), start: Ns(10), end: Some(Ns(20)), ..mapped }];
        let found = find(&observation);
        assert!(found.iter().all(|finding| finding.severity == Severity::Info));
        found.into_iter().map(|finding| finding.location.and_then(|location| location.line)).collect()
    }

    #[test]
    fn only_data_that_is_not_there_will_fault() {
        let none: [Option<u32>; 0] = [];
        assert_eq!(lines(range(), START, 4096, 0x22), [Some(3)]);
        assert_eq!(lines(range(), START - 1, 4096, 0x22), none, "in start-up");
        assert_eq!(lines(range(), START, 0, 0x22), none, "nothing is locked");
        assert_eq!(lines(range(), START, 4096, 0x22 | MAP_STACK), none, "a thread's stack");
        for (what, other) in [
            ("locked", MemoryRange { is_locked: true, ..range() }),
            ("a file", MemoryRange { is_data: false, ..range() }),
            ("a stack", MemoryRange { stack_of: Some(Tid(12)), ..range() }),
            ("resident", MemoryRange { resident: (1 << 20) - LEAST + 1, ..range() }),
        ] {
            assert_eq!(lines(other, START, 4096, 0x22), none, "{what}");
        }
    }
}
