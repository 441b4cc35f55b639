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
    let by = of.the_culprit();
    // On another CPU a thread that does not sleep would keep other threads waiting for as long.
    let other = if of.culprit_does_not_sleep() {
        AdvisedFix::new(
            format!(
                "do not let {by} use a whole CPU: let it sleep, or make it SCHED_OTHER: chrt -o -p 0 TID"
            ),
            of.demote_culprit(),
        )
    } else {
        of.culprit_moved()
    };
    vec![
        AdvisedFix::by_hand("call sched_setscheduler first and sched_setaffinity second", ITS_PROGRAM),
        other,
    ]
}
