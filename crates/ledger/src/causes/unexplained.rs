//! None of the other causes.

use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, lines, page};
use crate::model::culprit::Culprit;
use whylate_base::Priority;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "unexplained",
    page: page!("unexplained"),
    group: CauseGroup::NotShown,
    blames: Blames::Nothing,
    why,
    advice,
    details: Details { starves: None, ..Details::DEFAULT },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { charged, response, .. } = late;
    format!("the recording does not explain {charged} of {response}")
}

fn advice(_by: Option<&Culprit>, _late_thread: Priority) -> Vec<String> {
    lines(&["record again with `whylate record`, which takes all the events the ledger can use"])
}
