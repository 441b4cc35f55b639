//! Its own execution.

use super::info::{
    Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, ShownBy, Usual, lines, page,
};
use crate::model::culprit::Culprit;
use whylate_base::Priority;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "own-work",
    page: page!("own-work"),
    group: CauseGroup::OwnProgram,
    blames: Blames::LateThread,
    why,
    advice,
    details: Details {
        evidence,
        name_on_time: Some("its own work"),
        usual: Usual::OwnWork,
        shown_by: ShownBy::OwnSamples,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, charged, usual_work, .. } = late;
    let faults =
        if late.shows_page_faults { "" } else { " (or handled page faults, which were not recorded)" };
    if late.is_whole {
        format!("{thread} itself ran for {charged}{faults}, and {usual_work} is usual")
    } else {
        format!("{thread} itself ran for {charged}{faults}; the trace shows only part of this activation")
    }
}

fn evidence(time: &ChargedTime) -> String {
    format!("ran for {}", time.length)
}

fn advice(_by: Option<&Culprit>, _late_thread: Priority) -> Vec<String> {
    lines(&["find what the thread did differently in this activation: its own code ran"])
}
