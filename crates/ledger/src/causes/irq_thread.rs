//! The thread of an interrupt ran, and woke the late thread in the end.

use super::advised::{Advised, DEVICE_QUEUE, RECORD};
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, Usual, page};
use crate::model::culprit::Culprit;
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "irq-thread",
    page: page!("irq-thread"),
    group: CauseGroup::Interrupts,
    blames: Blames::Another,
    why,
    advice,
    details: Details {
        name_on_time: Some("the thread of the interrupt"),
        culprit_finding: Some("interrupt threads"),
        usual: Usual::WakeUpPath,
        routine: true,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, charged, .. } = late;
    let by = late.culprit.map_or_else(|| "the thread of the interrupt".to_owned(), Culprit::to_string);
    format!("{by} worked for {charged} on what its device had before it woke {thread}")
}

fn advice(_: &Advised<'_>) -> Vec<AdvisedFix> {
    vec![
        AdvisedFix::by_hand(
            "give the device a queue and an interrupt of its own for what is urgent: ethtool -N DEV flow-type ... action QUEUE",
            DEVICE_QUEUE,
        ),
        AdvisedFix::by_hand(
            "see which of its work takes long: record the events of its driver as well (whylate record -e GROUP)",
            RECORD,
        ),
    ]
}
