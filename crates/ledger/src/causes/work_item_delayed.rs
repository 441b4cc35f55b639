//! The kworker with the work item that wakes the late thread waited for a CPU, or a kernel thread of its file system.

use super::advised::{Advised, ITS_PROGRAM, WORK_ITEM, WORKQUEUE_CPUS};
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, ShownBy, page};
use crate::model::Culprit;
use crate::timeline::housekeeping::{does_requests, is_unbound_kworker};
use whylate_base::AdvisedFix;

const URGENT: &str =
    "let urgent work not wait for a workqueue: what needs a deadline belongs into a thread with a priority";

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "work-item-delayed",
    page: page!("work-item-delayed"),
    group: CauseGroup::Interrupts,
    blames: Blames::Another,
    why,
    advice,
    details: Details {
        culprit_finding: Some("work items delayed"),
        culprit_holds_cpu: true,
        shown_by: ShownBy::Culprit,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, cpu, charged, .. } = late;
    let by = late.by();
    let waits = match late.carrier.is_some_and(is_of_file_system) {
        true => format!("for which {thread} waits"),
        false => format!("whose work item wakes {thread}"),
    };
    let carrier = late.carrier_or("the kworker");
    format!("{by} had CPU {cpu} for {charged} while {carrier} was runnable, {waits}")
}

/// True of the threads that a file system or a driver has for its requests: they have priorities of their own.
fn is_of_file_system(carrier: &Culprit) -> bool {
    matches!(carrier, Culprit::Task { comm, .. } if does_requests(comm.as_str()))
}

fn is_unbound(carrier: &Culprit) -> bool {
    matches!(carrier, Culprit::Task { comm, .. } if is_unbound_kworker(comm.as_str()))
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    if of.carrier.is_some_and(is_of_file_system) {
        return vec![
            of.carrier_raised("the thread of the file system", ""),
            of.culprit_moved_with(""),
            AdvisedFix::by_hand(
                "move input and output to another thread: a real-time loop must not wait for a file system",
                ITS_PROGRAM,
            ),
        ];
    }
    // An unbound worker may run elsewhere: its work is to be kept off the culprit's CPU.
    if of.carrier.is_some_and(is_unbound) {
        return vec![
            of.culprit_moved(),
            AdvisedFix::by_hand(
                format!(
                    "let the work run on other CPUs than {} has: /sys/devices/virtual/workqueue/cpumask; its kworker is not bound to one",
                    of.the_culprit()
                ),
                WORKQUEUE_CPUS,
            ),
            AdvisedFix::by_hand(URGENT, WORK_ITEM),
        ];
    }
    vec![
        of.culprit_moved_with("; kworkers of a CPU cannot leave it"),
        AdvisedFix::by_hand(
            "keep unbound work away from the CPUs of real-time threads: /sys/devices/virtual/workqueue/cpumask",
            WORKQUEUE_CPUS,
        ),
        AdvisedFix::by_hand(URGENT, WORK_ITEM),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::{Comm, Cpu, Priority, Tid};

    #[test]
    fn only_a_worker_of_one_cpu_cannot_leave_it() {
        let task = |tid, comm, priority| Culprit::Task { tid: Tid(tid), comm: Comm::from(comm), priority };
        let hog = task(7, "hog", Priority::realtime(30));
        let texts = |worker| {
            let carrier = task(36, worker, Priority::DEFAULT);
            let of = Advised { carrier: Some(&carrier), ..Advised::about(Some(&hog), Some(Cpu(0))) };
            advice(&of).into_iter().map(|fix| fix.text).collect::<Vec<_>>().join("; ")
        };
        let bound = texts("kworker/0:2");
        assert!(bound.contains("kworkers of a CPU cannot leave it"), "{bound}");
        let unbound = texts("kworker/u4:2");
        assert!(
            !unbound.contains("cannot leave") && unbound.contains("on other CPUs than hog:7"),
            "{unbound}"
        );
    }
}
