//! Calls of the allocator to the kernel in the real-time path.

use super::lines::{by_line, times};
use super::purpose::is_name_resolution;
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::call_flags::{MAP_ANONYMOUS, MAP_STACK};
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::{Call, Observation};
use crate::doctor::finding::DoctorFinding;
use std::collections::BTreeSet;
use whylate_base::Severity;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "heap-in-loop", page: page!("heap-in-loop"), needs: Needs::Calls, find };

/// `include/uapi/asm-generic/mman-common.h`
const PROT_READ_WRITE: u64 = 3;

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let calls = observation
        .path_calls()
        .filter(|(_, call)| changes_the_heap(call) && !is_name_resolution(observation, call));
    let lines = by_line(observation, calls);
    lines
        .iter()
        .map(|line| {
            let names: BTreeSet<String> = line.items.iter().map(|call| call.call.name()).collect();
            let names: Vec<String> = names.into_iter().collect();
            let title = format!(
                "{} changes its memory map in its loop: {} {}",
                line.name(),
                names.join(", "),
                times(line.items.len())
            );
            line.finding(RULE.code, Severity::Warning, title).because(WHY).fix(FIX)
        })
        .collect()
}

/// What malloc(3) and free(3) call, and programs that manage memory themselves.
fn changes_the_heap(call: &Call) -> bool {
    match call.call {
        SystemCall::Brk | SystemCall::Munmap | SystemCall::Mremap | SystemCall::Madvise => true,
        // Not a new thread's stack, and not a file.
        SystemCall::Mmap => call.args[3] & MAP_ANONYMOUS != 0 && call.args[3] & MAP_STACK == 0,
        // How glibc grows the heaps of threads other than the first.
        SystemCall::Mprotect => call.args[2] == PROT_READ_WRITE,
        _ => false,
    }
}

const WHY: &str = "a change of the memory map takes the lock of the whole address space, for which the page faults of all other \
     threads wait, and the thread waits for theirs; new memory then costs a page fault for each page, and unmapping interrupts \
     other CPUs";

const FIX: &[&str] = &[
    "allocate before the loop, and reuse what was allocated: pools, fixed-size containers, reserve()",
    "mallopt(M_TRIM_THRESHOLD, -1), mallopt(M_MMAP_MAX, 0) and mallopt(M_TOP_PAD, BYTES) before the first allocation keep glibc's \
     heap from shrinking, and from growing in small steps",
];
