//! Stacks of real-time threads that are neither locked nor resident, although the program locks other memory.

use super::rule::{DoctorRule, Needs, page};
use crate::doctor::facts::{MemoryRange, Observation, ThreadFacts};
use crate::doctor::finding::DoctorFinding;
use whylate_base::Severity;

pub(super) const RULE: DoctorRule = DoctorRule {
    code: "stack-not-prefaulted",
    page: page!("stack-not-prefaulted"),
    needs: Needs::Files,
    find,
};

/// A stack of which as much is resident was touched on purpose, or has been as deep as it will be.
const ENOUGH: u64 = 128 << 10;
/// A stack that lacks less was made as small as it need be.
const LEAST: u64 = 64 << 10;

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let threads = observation.realtime_threads();
    threads.filter_map(|thread| Some(finding(thread, stack(observation, thread)?))).collect()
}

/// The stack of a thread, where it lacks pages. The first thread's stack has no fixed size: what is mapped of it is what was
/// touched, so it cannot be told.
fn stack<'a>(observation: &'a Observation, thread: &ThreadFacts) -> Option<&'a MemoryRange> {
    let process = observation.processes.get(&thread.pid)?;
    process.most_locked_bytes.filter(|&locked| locked > 0)?;
    let (at, memory) = process.memory.as_ref()?;
    thread.path.filter(|path| *at >= path.start)?;
    let stack = memory.iter().find(|range| range.stack_of == Some(thread.tid))?;
    let lacks_pages = stack.resident < ENOUGH && stack.missing() >= LEAST;
    (stack.is_data && !stack.is_locked && lacks_pages).then_some(stack)
}

fn finding(thread: &ThreadFacts, stack: &MemoryRange) -> DoctorFinding {
    let title = format!(
        "{} KiB of the {} KiB of the stack of {} are in memory, and it is not locked",
        stack.resident >> 10,
        (stack.end - stack.start) >> 10,
        thread.name()
    );
    DoctorFinding::new(RULE.code, Severity::Info, title).of(thread).because(WHY).fix(FIX)
}

const WHY: &str = "a call that goes deeper than any before takes a page fault for each new page of the stack: in an error path, \
     long after the start";

const FIX: &[&str] = &[
    "mlockall(MCL_CURRENT | MCL_FUTURE) before the thread starts: its whole stack is then in memory",
    "pthread_attr_setstacksize() makes it as small as the thread needs it",
    "or touch it before the loop: a function with a large local array that writes to each page",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::made_up::{PID, START, program};
    use whylate_base::{Ns, Policy, Tid};

    #[test]
    fn only_the_stack_of_a_real_time_thread_counts() {
        let range = MemoryRange {
            start: 0x7f00_0000,
            end: 0x7f80_0000,
            resident: 12 << 10,
            is_locked: false,
            is_data: true,
            stack_of: Some(Tid(11)),
        };
        let small = MemoryRange { end: range.start + (72 << 10), ..range.clone() };
        for (what, memory, at, locked, expected) in [
            ("a default stack", range.clone(), START, 4096, 1),
            ("in start-up", range.clone(), START - 1, 4096, 0),
            ("nothing is locked", range.clone(), START, 0, 0),
            (
                "an ordinary thread's",
                MemoryRange { stack_of: Some(Tid(12)), ..range.clone() },
                START,
                4096,
                0,
            ),
            ("touched", MemoryRange { resident: ENOUGH, ..range.clone() }, START, 4096, 0),
            ("locked", MemoryRange { is_locked: true, ..range.clone() }, START, 4096, 0),
            ("the first thread's", MemoryRange { is_data: false, ..range }, START, 4096, 0),
            ("small", small, START, 4096, 0),
        ] {
            let mut observation = program(&[(11, Policy::Fifo, 50), (12, Policy::Other, 0)]);
            let process = observation.processes.get_mut(&PID).expect("a process");
            process.memory = Some((Ns(at), vec![memory]));
            process.most_locked_bytes = Some(locked);
            let found = find(&observation);
            assert_eq!(found.len(), expected, "{what}");
            assert!(found.iter().all(|finding| finding.severity == Severity::Info));
        }
    }
}
