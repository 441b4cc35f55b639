//! A softirq was left to a thread of SCHED_OTHER, which waited for a CPU.

use super::advised::Advised;
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, ShownBy, page};
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "softirq-deferred",
    page: page!("softirq-deferred"),
    group: CauseGroup::Interrupts,
    blames: Blames::Another,
    why,
    advice,
    details: Details {
        culprit_finding: Some("softirqs deferred"),
        culprit_holds_cpu: true,
        shown_by: ShownBy::Culprit,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, cpu, charged, .. } = late;
    let by = late.by();
    let carrier = late.carrier_or("the thread that runs softirqs there");
    format!(
        "{by} had CPU {cpu} for {charged} while {carrier} was runnable: the softirq that wakes {thread} had been left \
         to it"
    )
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    let by = of.the_culprit();
    vec![
        AdvisedFix::new(
            format!(
                "move {by} away from the CPU that takes the interrupt: taskset -pc CPUS TID, /proc/irq/N/smp_affinity_list"
            ),
            of.move_culprit(),
        ),
        of.carrier_raised("ksoftirqd/N of that CPU", "; risk: all softirqs get it"),
        AdvisedFix::by_hand(
            "receive in a thread with a priority of its own: echo 1 > /sys/class/net/DEV/threaded, then chrt the napi/DEV-N",
            "the recording does not show which network device it is",
        ),
    ]
}
