//! Another thread held the CPU, and the recording does not show which of the two comes first.

use super::advised::{Advised, RECORD, all_by_hand};
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, ShownBy, page};
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "other-task",
    page: page!("other-task"),
    group: CauseGroup::OtherThreads,
    blames: Blames::Another,
    why,
    advice,
    details: Details { culprit_holds_cpu: true, shown_by: ShownBy::Culprit, ..Details::DEFAULT },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { name, cpu, charged, .. } = late;
    format!(
        "{} had CPU {cpu} for {charged} while {name} was runnable; the recording does not have the priorities of both, so it does \
         not show which of them the scheduler runs first",
        late.by()
    )
}

fn advice(_: &Advised<'_>) -> Vec<AdvisedFix> {
    all_by_hand(
        RECORD,
        &[
            "compare the policies and priorities of the two threads (chrt -p TID), or record again with `whylate record`, which has \
           them",
        ],
    )
}
