//! Events were lost here.

use super::advised::{Advised, RECORD, all_by_hand};
use super::info::{Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, page};
use whylate_base::AdvisedFix;

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
    format!("events are missing for {}", time.length)
}

fn advice(_: &Advised<'_>) -> Vec<AdvisedFix> {
    all_by_hand(RECORD, &["record again with a larger --buffer, or fewer events"])
}
