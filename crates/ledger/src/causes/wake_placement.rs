//! Queued behind another task while an allowed CPU was idle.

use super::advised::Advised;
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, page};
use whylate_base::{Action, AdvisedFix, ThreadAction};

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
        spread(of),
        AdvisedFix::by_hand(
            "do not rely on balancing between isolated CPUs (isolcpus=, /sys/devices/system/cpu/isolated): a SCHED_OTHER \
             thread stays on its CPU there, however many CPUs it may use",
            "which threads share isolated CPUs is to be decided",
        ),
    ]
}

/// Which thread goes where. Only one of them moved to the other CPUs may meet the next there.
fn spread(of: &Advised<'_>) -> AdvisedFix {
    const EACH: &str = "pin each of the threads to a CPU of its own: ";
    let set = of.spread();
    if set.is_empty() {
        return AdvisedFix::by_hand(
            format!("{EACH}taskset -pc CPU TID"),
            "the recording does not name the thread and the idle CPU",
        );
    }
    let command = |one: &ThreadAction| {
        let (cpu, tid) = (one.cpus.as_deref().unwrap_or("CPU"), one.tid.map(|tid| tid.to_string()));
        format!("taskset -pc {cpu} {} ({})", tid.as_deref().unwrap_or("TID"), one.thread)
    };
    let commands: Vec<String> = set.iter().map(command).collect();
    AdvisedFix::new(format!("{EACH}{}", commands.join(", ")), Action::Thread { set })
}
