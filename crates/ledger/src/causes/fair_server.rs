//! The kernel's fair server ran SCHED_OTHER threads first.

use super::info::{Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, lines, page};
use crate::model::culprit::Culprit;
use whylate_base::Priority;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "fair-server",
    page: page!("fair-server"),
    group: CauseGroup::OtherThreads,
    blames: Blames::Another,
    why,
    advice,
    details: Details { evidence, culprit_holds_cpu: true, shows_bandwidth: true, ..Details::DEFAULT },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, cpu, charged, .. } = late;
    format!(
        "the kernel's fair server ran SCHED_OTHER threads ({}) on CPU {cpu} for {charged} while {thread} was runnable",
        late.by()
    )
}

fn evidence(time: &ChargedTime) -> String {
    match &time.culprit {
        Some(by) => format!("the server ran {by} for {}", time.length),
        None => time.had_the_cpu(),
    }
}

fn advice(_by: Option<&Culprit>, _late_thread: Priority) -> Vec<String> {
    lines(&[
        "leave SCHED_OTHER threads some time of this CPU, or move them to another CPU: the server runs only threads \
         that starve",
        "echo 0 > /sys/kernel/debug/sched/fair_server/cpuN/runtime turns it off for that CPU; \
         kernel.sched_rt_runtime_us=-1 does not; risk: kernel threads on that CPU starve",
    ])
}
