//! The thread that polls a network device, and so wakes the late thread, waited for a CPU.

use super::advised::Advised;
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, ShownBy, page};
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "napi-thread-delayed",
    page: page!("napi-thread-delayed"),
    group: CauseGroup::Interrupts,
    blames: Blames::Another,
    why,
    advice,
    details: Details {
        culprit_finding: Some("the NAPI thread waited"),
        culprit_holds_cpu: true,
        shown_by: ShownBy::Culprit,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, cpu, charged, .. } = late;
    let by = late.by();
    let carrier = late.carrier_in_brackets();
    format!(
        "{by} had CPU {cpu} for {charged} while the NAPI thread that receives for {thread} was runnable{carrier}"
    )
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    let by = of.the_culprit();
    vec![
        of.carrier_raised("the NAPI thread (napi/DEV-N)", ""),
        AdvisedFix::new(
            format!("move {by} to another CPU (taskset -pc CPUS TID), or the NAPI thread"),
            of.move_culprit(),
        ),
        AdvisedFix::by_hand(
            "receive in the interrupt's softirq again: echo 0 > /sys/class/net/DEV/threaded",
            "the recording does not show which network device it is",
        ),
    ]
}
