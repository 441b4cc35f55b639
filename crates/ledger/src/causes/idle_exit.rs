//! The CPU left an idle state.

use super::advised::Advised;
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, Usual, page};
use whylate_base::{Action, AdvisedFix};

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

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    let action = match of.cpu_list() {
        Some(cpu) => {
            Action::tunable(format!("/sys/devices/system/cpu/cpu{cpu}/power/pm_qos_resume_latency_us"), "n/a")
        }
        None => Action::tunable("/dev/cpu_dma_latency", "0"),
    };
    vec![AdvisedFix::new(
        "keep the CPU out of deep idle states: n/a in its power/pm_qos_resume_latency_us, hold /dev/cpu_dma_latency open at 0, or \
         boot with cpuidle.off=1",
        action,
    )]
}
