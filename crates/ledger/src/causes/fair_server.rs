//! The kernel's fair server ran SCHED_OTHER threads first.

use super::advised::{Advised, server_off};
use super::info::{Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, page};
use whylate_base::AdvisedFix;

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

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    vec![
        AdvisedFix::new(
            "leave SCHED_OTHER threads some time of this CPU, or move them to another CPU: the server runs only threads \
             that starve",
            of.move_culprit(),
        ),
        AdvisedFix::new(
            "echo 0 > /sys/kernel/debug/sched/fair_server/cpuN/runtime turns it off for that CPU; \
             kernel.sched_rt_runtime_us=-1 does not; risk: kernel threads on that CPU starve",
            server_off("fair_server", of),
        ),
    ]
}
