//! The kernel's ext server ran SCHED_EXT threads first.

use super::advised::{Advised, server_off};
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, page};
use whylate_base::AdvisedFix;

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

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    vec![AdvisedFix::new(
        "echo 0 > /sys/kernel/debug/sched/ext_server/cpuN/runtime turns it off for that CPU",
        server_off("ext_server", of),
    )]
}
