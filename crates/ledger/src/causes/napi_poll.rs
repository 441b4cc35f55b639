//! The kernel received packets, among them one for the thread.

use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, Usual, lines, page};
use crate::model::culprit::Culprit;
use whylate_base::Priority;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "napi-poll",
    page: page!("napi-poll"),
    group: CauseGroup::Interrupts,
    blames: Blames::Another,
    why,
    advice,
    details: Details {
        name_on_time: Some("the kernel's receiving of packets"),
        culprit_finding: Some("packets received"),
        usual: Usual::WakeUpPath,
        routine: true,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, cpu, charged, .. } = late;
    format!("the kernel received packets for {charged} on CPU {cpu} before it woke {thread}")
}

fn advice(_by: Option<&Culprit>, _late_thread: Priority) -> Vec<String> {
    lines(&[
        "keep other packets away from the queue: a queue of its own by a flow rule (ethtool -N DEV flow-type ... action QUEUE), \
         or another network device",
        "let fewer packets be received in one go: /sys/class/net/DEV/gro_flush_timeout, net.core.dev_weight",
    ])
}
