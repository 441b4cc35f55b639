//! Queued behind another task while an allowed CPU was idle.

use super::advised::Advised;
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, page};
use whylate_base::AdvisedFix;

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

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    vec![
        AdvisedFix::new(
            "pin each of the threads to a CPU of its own: taskset -pc CPU TID",
            of.move_culprit(),
        ),
        AdvisedFix::by_hand(
            "do not rely on balancing between isolated CPUs (isolcpus=, /sys/devices/system/cpu/isolated): a SCHED_OTHER \
             thread stays on its CPU there, however many CPUs it may use",
            "which threads share isolated CPUs is to be decided",
        ),
    ]
}
