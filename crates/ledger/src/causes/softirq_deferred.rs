//! A softirq was left to a thread of SCHED_OTHER, which waited for a CPU.

use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, ShownBy, page, the_culprit};
use crate::model::culprit::Culprit;
use whylate_base::Priority;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "softirq-deferred",
    page: page!("softirq-deferred"),
    group: CauseGroup::Interrupts,
    blames: Blames::Another,
    why,
    advice,
    details: Details {
        culprit_finding: Some("softirqs deferred"),
        culprit_holds_cpu: true,
        shown_by: ShownBy::Culprit,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, cpu, charged, .. } = late;
    let by = late.by();
    format!(
        "{by} had CPU {cpu} for {charged} while the thread that runs softirqs there (ksoftirqd) was runnable: the \
         softirq that wakes {thread} had been left to it"
    )
}

fn advice(by: Option<&Culprit>, _late_thread: Priority) -> Vec<String> {
    let by = the_culprit(by);
    vec![
        format!("move {by} away from the CPU that takes the interrupt: taskset -pc CPUS TID, /proc/irq/N/smp_affinity_list"),
        format!("give ksoftirqd/N of that CPU a priority above {by}: chrt -f -p PRIORITY TID; risk: all softirqs get it"),
        "receive in a thread with a priority of its own: echo 1 > /sys/class/net/DEV/threaded, then chrt the napi/DEV-N"
            .to_owned(),
    ]
}
