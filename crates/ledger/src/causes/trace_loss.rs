//! Events were lost here.

use super::info::{Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, lines, page};
use crate::model::culprit::Culprit;
use whylate_base::Priority;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "trace-loss",
    page: page!("trace-loss"),
    group: CauseGroup::NotShown,
    blames: Blames::Nothing,
    why,
    advice,
    details: Details { evidence, starves: None, ..Details::DEFAULT },
};

fn why(late: &LateActivation<'_>) -> String {
    format!("events were lost for {}: the recording does not show what happened in that time", late.charged)
}

fn evidence(time: &ChargedTime) -> String {
    format!("events lost for {}", time.length)
}

fn advice(_by: Option<&Culprit>, _late_thread: Priority) -> Vec<String> {
    lines(&["record again with a larger --buffer, or fewer events"])
}
