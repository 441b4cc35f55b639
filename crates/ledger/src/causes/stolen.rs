//! Nothing at all happened on the CPU, not even its tick.

use super::advised::{Advised, EXCLUSIVE_HOST_CPUS, MACHINE, all_by_hand};
use super::info::{Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, page};
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "stolen",
    page: page!("stolen"),
    group: CauseGroup::NotShown,
    blames: Blames::Another,
    why,
    advice,
    details: Details { evidence, ..Details::DEFAULT },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { cpu, charged, .. } = late;
    format!(
        "CPU {cpu} did nothing for {charged}, not even for due timers: the hypervisor, the firmware (an SMI of x86, the \
         secure world of ARM) or the hardware took the time"
    )
}

fn evidence(time: &ChargedTime) -> String {
    format!("nothing happened for {}", time.length)
}

fn advice(_: &Advised<'_>) -> Vec<AdvisedFix> {
    all_by_hand(
        MACHINE,
        &[
            EXCLUSIVE_HOST_CPUS,
            "on hardware: look for SMIs (the hwlat tracer; turbostat shows the SMI count), and turn off what raises them in \
         the firmware; on ARM look for calls of the secure firmware (the events of `optee`, the trusted firmware's own log)",
        ],
    )
}
