//! The stop class (migration/N) held the CPU.

use super::advised::{Advised, KERNEL, all_by_hand};
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, page};
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "stop-task",
    page: page!("stop-task"),
    group: CauseGroup::OtherThreads,
    blames: Blames::Another,
    why,
    advice,
    details: Details {
        culprit_finding: Some("the stop class has priority over every real-time priority"),
        culprit_holds_cpu: true,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { cpu, charged, .. } = late;
    format!("{}, a thread of the kernel's stop class, held CPU {cpu} for {charged}", late.by())
}

fn advice(_: &Advised<'_>) -> Vec<AdvisedFix> {
    all_by_hand(
        KERNEL,
        &[
            "find the operation that stops CPUs: changes of affinity, CPU hotplug, module loading, text patching, reads \
             of per-CPU state",
        ],
    )
}
