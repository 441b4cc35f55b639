//! It pinned itself to a busy CPU before it raised its priority.

use super::advised::{Advised, ITS_PROGRAM};
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, page};
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "pinned-before-priority",
    page: page!("pinned-before-priority"),
    group: CauseGroup::Placement,
    blames: Blames::Another,
    why,
    advice,
    details: Details { culprit_holds_cpu: true, starves: None, ..Details::DEFAULT },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, cpu, charged, .. } = late;
    format!(
        "{thread} pinned itself to CPU {cpu} while it was still SCHED_OTHER, and so waited {charged} behind {} before \
         it could raise its priority",
        late.by()
    )
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    vec![
        AdvisedFix::by_hand("call sched_setscheduler first and sched_setaffinity second", ITS_PROGRAM),
        AdvisedFix::new(format!("do not let {} use a whole CPU", of.the_culprit()), of.move_culprit()),
    ]
}
