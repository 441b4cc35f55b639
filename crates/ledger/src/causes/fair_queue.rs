//! A SCHED_OTHER thread waited for its turn.

use super::advised::Advised;
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, ShownBy, page};
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "fair-queue",
    page: page!("fair-queue"),
    group: CauseGroup::OtherThreads,
    blames: Blames::Another,
    why,
    advice,
    details: Details {
        culprit_holds_cpu: true,
        culprit_runs_first: true,
        routine: true,
        shown_by: ShownBy::Culprit,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, charged, .. } = late;
    let is = match late.was_realtime {
        true => "was SCHED_OTHER by then",
        false => "is not real-time",
    };
    format!("{thread} {is} and waited {charged} for its turn behind {}", late.by())
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    vec![of.late_raised("give the thread a real-time priority: chrt -f -p PRIORITY TID")]
}
