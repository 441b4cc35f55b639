//! A softirq ran.

use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, lines, page};
use crate::model::culprit::Culprit;
use whylate_base::Priority;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "softirq",
    page: page!("softirq"),
    group: CauseGroup::Interrupts,
    blames: Blames::Another,
    why,
    advice,
    details: Details { culprit_finding: Some("softirq"), routine: true, ..Details::DEFAULT },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, cpu, charged, .. } = late;
    let by = late.culprit.map_or_else(|| "a softirq".to_owned(), Culprit::to_string);
    format!("{by} took {charged} of CPU {cpu} while {thread} waited")
}

/// Which advice helps depends on the softirq (`include/linux/interrupt.h`).
fn advice(by: Option<&Culprit>, _late_thread: Priority) -> Vec<String> {
    lines(match by {
        Some(Culprit::Softirq { vec: 2 | 3 }) => &[
            "move the network interrupt, or the thread that sends, to another CPU",
            "steer received packets away from this CPU: /sys/class/net/DEV/queues/rx-N/rps_cpus",
        ],
        Some(Culprit::Softirq { vec: 9 }) => {
            &["let other CPUs run RCU's callbacks: rcu_nocbs=CPUS on the kernel's command line"]
        }
        Some(Culprit::Softirq { vec: 1 | 7 | 8 }) => &[
            "take timers and load balancing off this CPU: isolcpus=, nohz_full=, an isolated cpuset partition",
        ],
        _ => &["move the interrupt or the thread that raises this softirq to another CPU"],
    })
}
