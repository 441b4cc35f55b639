//! The kworker with the work item that wakes the late thread waited for a CPU.

use super::advised::{Advised, WORK_ITEM};
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, ShownBy, page};
use whylate_base::AdvisedFix;

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
    let carrier = late.carrier_or("the kworker");
    format!("{by} had CPU {cpu} for {charged} while {carrier} was runnable, whose work item wakes {thread}")
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    vec![
        of.culprit_moved_with("; kworkers of a CPU cannot leave it"),
        AdvisedFix::by_hand(
            "keep unbound work away from the CPUs of real-time threads: /sys/devices/virtual/workqueue/cpumask",
            "the mask depends on which CPUs are for real-time threads, which a recording does not show",
        ),
        AdvisedFix::by_hand(
            "let urgent work not wait for a workqueue: what needs a deadline belongs into a thread with a priority",
            WORK_ITEM,
        ),
    ]
}
