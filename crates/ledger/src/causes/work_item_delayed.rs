//! The kworker with the work item that wakes the late thread waited for a CPU.

use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, ShownBy, page, the_culprit};
use crate::model::culprit::Culprit;
use whylate_base::Priority;

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
    format!("{by} had CPU {cpu} for {charged} while the kworker was runnable whose work item wakes {thread}")
}

fn advice(by: Option<&Culprit>, _late_thread: Priority) -> Vec<String> {
    let by = the_culprit(by);
    vec![
        format!("move {by} to another CPU: taskset -pc CPUS TID; kworkers of a CPU cannot leave it"),
        "keep unbound work away from the CPUs of real-time threads: /sys/devices/virtual/workqueue/cpumask".to_owned(),
        "let urgent work not wait for a workqueue: what needs a deadline belongs into a thread with a priority".to_owned(),
    ]
}
