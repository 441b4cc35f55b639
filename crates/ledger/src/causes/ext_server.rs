//! The kernel's ext server ran SCHED_EXT threads first.

use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, lines, page};
use crate::model::culprit::Culprit;
use whylate_base::Priority;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "ext-server",
    page: page!("ext-server"),
    group: CauseGroup::OtherThreads,
    blames: Blames::Another,
    why,
    advice,
    details: Details { culprit_holds_cpu: true, ..Details::DEFAULT },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, cpu, charged, .. } = late;
    format!(
        "the kernel's ext server ran SCHED_EXT threads ({}) on CPU {cpu} for {charged} while {thread} was runnable",
        late.by()
    )
}

fn advice(_by: Option<&Culprit>, _late_thread: Priority) -> Vec<String> {
    lines(&["echo 0 > /sys/kernel/debug/sched/ext_server/cpuN/runtime turns it off for that CPU"])
}
