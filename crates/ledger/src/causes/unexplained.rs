//! None of the other causes.

use super::advised::{Advised, RECORD, all_by_hand};
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, page};
use whylate_base::AdvisedFix;

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

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    if of.recorded_all {
        return all_by_hand(
            RECORD,
            &[
                "the recording has the events of `whylate record`, and none of them shows what this time was: \
               `whylate record --stacks` adds where the threads run and sleep",
            ],
        );
    }
    all_by_hand(
        RECORD,
        &["record again with `whylate record`, which takes all the events the ledger can use"],
    )
}
