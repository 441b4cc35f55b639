//! Slept between two markers of its own: for a time, or for what another thread sends.

use super::advised::{Advised, ITS_PROGRAM, all_by_hand};
use super::info::{
    Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, ShownBy, Usual, page,
};
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "own-wait",
    page: page!("own-wait"),
    group: CauseGroup::OwnProgram,
    blames: Blames::LateThread,
    why,
    advice,
    details: Details {
        evidence,
        name_on_time: Some("its own waits"),
        usual: Usual::Mean,
        shown_by: ShownBy::Blocking,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, charged, .. } = late;
    match late.culprit {
        Some(by) => format!("{thread} waited {charged} between its markers, until {by} woke it"),
        None => format!("{thread} slept {charged} between its markers, by a call of its own"),
    }
}

fn evidence(time: &ChargedTime) -> String {
    match &time.culprit {
        Some(by) => format!("slept {}, until {by} woke it", time.length),
        None => format!("slept {}", time.length),
    }
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    let wait = match of.by {
        Some(by) => {
            format!("find what {by} did before it woke the thread: whylate explain --task it, or --chains")
        }
        None => "find the call that sleeps: record --stacks shows its line".to_owned(),
    };
    all_by_hand(ITS_PROGRAM, &[&wait, "leave waits out of what the markers enclose, where they are meant"])
}
