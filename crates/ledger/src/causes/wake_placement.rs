//! Queued behind another task while an allowed CPU was idle.

use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, lines, page};
use crate::model::culprit::Culprit;
use whylate_base::Priority;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "wake-placement",
    page: page!("wake-placement"),
    group: CauseGroup::Placement,
    blames: Blames::Another,
    why,
    advice,
    details: Details::DEFAULT,
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, cpu, charged, .. } = late;
    format!(
        "{thread} waited {charged} behind {} on CPU {cpu}, while another CPU that it may use was idle",
        late.by()
    )
}

fn advice(_by: Option<&Culprit>, _late_thread: Priority) -> Vec<String> {
    lines(&[
        "pin each of the threads to a CPU of its own: taskset -pc CPU TID",
        "do not rely on balancing between isolated CPUs (isolcpus=, /sys/devices/system/cpu/isolated): a SCHED_OTHER \
         thread stays on its CPU there, however many CPUs it may use",
    ])
}
