//! The kernel received packets, among them one for the thread.

use super::advised::{Advised, DEVICE_QUEUE};
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, Usual, page};
use whylate_base::{Action, AdvisedFix};

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

fn advice(_: &Advised<'_>) -> Vec<AdvisedFix> {
    vec![
        AdvisedFix::by_hand(
            "keep other packets away from the queue: a queue of its own by a flow rule (ethtool -N DEV flow-type ... action QUEUE), \
             or another network device",
            DEVICE_QUEUE,
        ),
        AdvisedFix::new(
            "let fewer packets be received in one go: /sys/class/net/DEV/gro_flush_timeout, net.core.dev_weight",
            // A quarter of the default (`net/core/hotdata.c`): a poll of the backlog ends after so many packets.
            Action::sysctl("net.core.dev_weight", "16"),
        ),
    ]
}
