//! A work item ran, and woke the late thread in the end.

use super::advised::{Advised, RECORD, WORK_ITEM};
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, Usual, page};
use crate::model::culprit::Culprit;
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "work-item",
    page: page!("work-item"),
    group: CauseGroup::Interrupts,
    blames: Blames::Another,
    why,
    advice,
    details: Details {
        name_on_time: Some("the work item that woke it"),
        culprit_finding: Some("work items"),
        usual: Usual::WakeUpPath,
        routine: true,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, charged, .. } = late;
    let by = late.culprit.map_or_else(|| "a kworker".to_owned(), Culprit::to_string);
    format!("{by} executed work items for {charged} before one woke {thread}")
}

fn advice(_: &Advised<'_>) -> Vec<AdvisedFix> {
    vec![
        AdvisedFix::by_hand(
            "see which function it is: record workqueue:workqueue_execute_start, which names it (whylate explain --chains)",
            RECORD,
        ),
        AdvisedFix::by_hand(
            "let urgent work not wait for a workqueue: what needs a deadline belongs into a thread with a priority",
            WORK_ITEM,
        ),
    ]
}
