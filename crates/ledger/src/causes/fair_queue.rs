//! A SCHED_OTHER thread waited for its turn.

use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, ShownBy, lines, page};
use crate::model::culprit::Culprit;
use whylate_base::Priority;

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
        shown_by: ShownBy::Culprit,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, charged, .. } = late;
    format!("{thread} is not real-time and waited {charged} for its turn behind {}", late.by())
}

fn advice(_by: Option<&Culprit>, _late_thread: Priority) -> Vec<String> {
    lines(&["give the thread a real-time priority: chrt -f -p PRIORITY TID"])
}
