//! A softirq ran.

use super::advised::{Advised, ITS_PROGRAM, THEIR_PROGRAM, all_by_hand};
use super::grace_period;
use super::info::{Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, page};
use crate::model::culprit::Culprit;
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "softirq",
    page: page!("softirq"),
    group: CauseGroup::Interrupts,
    blames: Blames::Another,
    why,
    advice,
    details: Details {
        culprit_finding: Some("softirq"),
        routine: true,
        evidence: ChargedTime::handler_had_the_cpu,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, cpu, charged, .. } = late;
    let by = late.culprit.map_or_else(|| "a softirq".to_owned(), Culprit::to_string);
    let raised =
        late.raised_by.map_or_else(String::new, |raiser| format!("; {raiser} raises nearly all of it there"));
    format!("{by} took {charged} of CPU {cpu} while {thread} waited{raised}")
}

/// Advice where one thread or one device's interrupt raises the softirq.
fn by_raiser(of: &Advised<'_>) -> Vec<AdvisedFix> {
    let by = of.the_culprit();
    match of.by {
        Some(Culprit::Irq { irq: Some(irq), .. }) => vec![AdvisedFix::new(
            format!("move {by} to another CPU: /proc/irq/{irq}/smp_affinity_list; its softirq moves with it"),
            of.move_irq(),
        )],
        _ if of.is_itself() => all_by_hand(
            ITS_PROGRAM,
            &[
                "send and receive in another thread, on another CPU: its packets are processed in its own time",
            ],
        ),
        _ => vec![
            of.culprit_moved_with("; the softirq that it raises moves with it"),
            AdvisedFix::by_hand(format!("have {by} send or receive less at a time"), THEIR_PROGRAM),
        ],
    }
}

/// Which advice helps depends on the softirq (`include/linux/interrupt.h`).
fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    const DEVICE: &str = "the recording does not show one device or thread that raised it";
    if let Some(raiser) = of.about_raiser() {
        return by_raiser(&raiser);
    }
    match of.by {
        Some(Culprit::Softirq { vec: 2 | 3 }) => all_by_hand(
            DEVICE,
            &[
                "move the network interrupt, or the thread that sends, to another CPU",
                "steer received packets away from this CPU: /sys/class/net/DEV/queues/rx-N/rps_cpus",
            ],
        ),
        Some(Culprit::Softirq { vec: 9 }) => vec![grace_period::callbacks_elsewhere(of)],
        Some(Culprit::Softirq { vec: 1 | 7 | 8 }) => vec![AdvisedFix::new(
            "take timers and load balancing off this CPU: isolcpus=, nohz_full=, an isolated cpuset partition",
            of.isolate(),
        )],
        _ => {
            all_by_hand(DEVICE, &["move the interrupt or the thread that raises this softirq to another CPU"])
        }
    }
}
