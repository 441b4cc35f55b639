//! The kernel's own path from wake-up to running: choosing the thread, switching to it.

use super::advised::Advised;
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, Usual, page};
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "dispatch",
    page: page!("dispatch"),
    group: CauseGroup::WakeUpPath,
    blames: Blames::Nothing,
    why,
    advice,
    details: Details {
        name_on_time: Some("the context switch to it"),
        usual: Usual::WakeUpPath,
        routine: true,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, cpu, charged, .. } = late;
    format!("the kernel took {charged} to get {thread} running on CPU {cpu}")
}

fn advice(_: &Advised<'_>) -> Vec<AdvisedFix> {
    Vec::new()
}
