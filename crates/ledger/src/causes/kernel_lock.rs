//! What to do about a lock of the kernel, to which the priority inheritance of a program's locks does not apply.

use super::advised::{Advised, ITS_PROGRAM};
use crate::model::Culprit;
use crate::timeline::housekeeping::{handles_interrupts, runs_softirqs};
use whylate_base::{Action, AdvisedFix};

pub(super) fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    let owner = match of.lock_owner {
        Some(Culprit::Task { comm, .. }) => comm.as_str(),
        _ => "",
    };
    if runs_softirqs(owner) || handles_interrupts(owner) {
        return softirq_lock(owner);
    }
    let mut fixes = vec![AdvisedFix::by_hand(
        "it is a lock of the kernel, and PTHREAD_PRIO_INHERIT does not apply to it: keep calls that need it out of the \
         real-time path; for that of the memory map, allocate and touch all memory before, lock it with mlockall(2), and \
         call no mmap, munmap, mprotect or madvise there, nor end threads of the process",
        ITS_PROGRAM,
    )];
    if owner.starts_with("khugepaged") {
        fixes.push(AdvisedFix::new(
            "switch huge pages off, with which khugepaged has nothing to do: echo never > \
             /sys/kernel/mm/transparent_hugepage/enabled",
            Action::tunable("/sys/kernel/mm/transparent_hugepage/enabled", "never"),
        ));
    }
    if owner.starts_with("kcompactd") {
        fixes.push(AdvisedFix::new(
            "switch proactive compaction off: sysctl vm.compaction_proactiveness=0",
            Action::sysctl("vm.compaction_proactiveness", "0"),
        ));
    }
    fixes
}

/// What to do about the locks of PREEMPT_RT that a thread holds which runs softirqs (`softirq_ctrl.lock`, `kernel/softirq.c`; without it
/// since commit 3253cb49cbad, Linux 6.18, unless it is asked for; `expiry_lock`, `kernel/time/timer.c`).
fn softirq_lock(owner: &str) -> Vec<AdvisedFix> {
    let text = format!(
        "{owner} holds locks of its CPU as it works: that for code with softirqs disabled, such as that of sockets (before Linux \
         6.18, or with CONFIG_PREEMPT_RT_NEEDS_BH_LOCK), and those of timers that expire; move what makes its work (interrupts, \
         packets, timers of other threads) to another CPU, or the late thread"
    );
    vec![AdvisedFix::by_hand(text, "what makes the work of a softirq has settings of its own")]
}
