//! A softirq ran.

use super::advised::{Advised, all_by_hand};
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, page};
use crate::model::culprit::Culprit;
use whylate_base::{Action, AdvisedFix};

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
fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    const DEVICE: &str = "a softirq does not show which device or thread raised it";
    match of.by {
        Some(Culprit::Softirq { vec: 2 | 3 }) => all_by_hand(
            DEVICE,
            &[
                "move the network interrupt, or the thread that sends, to another CPU",
                "steer received packets away from this CPU: /sys/class/net/DEV/queues/rx-N/rps_cpus",
            ],
        ),
        Some(Culprit::Softirq { vec: 9 }) => vec![AdvisedFix::new(
            "let other CPUs run RCU's callbacks: rcu_nocbs=CPUS on the kernel's command line",
            match of.cpu_list() {
                Some(cpu) => Action::parameters(&format!("rcu_nocbs={cpu}")),
                None => Action::by_hand("the recording does not show on which CPU it happened"),
            },
        )],
        Some(Culprit::Softirq { vec: 1 | 7 | 8 }) => vec![AdvisedFix::new(
            "take timers and load balancing off this CPU: isolcpus=, nohz_full=, an isolated cpuset partition",
            of.isolate(),
        )],
        _ => {
            all_by_hand(DEVICE, &["move the interrupt or the thread that raises this softirq to another CPU"])
        }
    }
}
