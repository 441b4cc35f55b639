//! The CPU left an idle state.

use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, Usual, lines, page};
use crate::model::culprit::Culprit;
use whylate_base::Priority;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "idle-exit",
    page: page!("idle-exit"),
    group: CauseGroup::WakeUpPath,
    blames: Blames::Nothing,
    why,
    advice,
    details: Details {
        name_on_time: Some("the exit from the idle state"),
        usual: Usual::WakeUpPath,
        routine: true,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { cpu, charged, .. } = late;
    format!("CPU {cpu} took {charged} to leave its idle state")
}

fn advice(_by: Option<&Culprit>, _late_thread: Priority) -> Vec<String> {
    lines(&[
        "keep the CPU out of deep idle states: hold /dev/cpu_dma_latency open at 0, or boot with cpuidle.off=1",
    ])
}
