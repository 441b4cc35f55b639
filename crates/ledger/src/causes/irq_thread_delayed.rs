//! The thread of the interrupt that wakes the late thread waited for a CPU.

use super::advised::Advised;
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, ShownBy, page};
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "irq-thread-delayed",
    page: page!("irq-thread-delayed"),
    group: CauseGroup::Interrupts,
    blames: Blames::Another,
    why,
    advice,
    details: Details {
        culprit_finding: Some("the thread of the interrupt waited"),
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
        "{by} had CPU {cpu} for {charged} while the thread of the interrupt that wakes {thread} was \
         runnable{carrier}"
    )
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    let by = of.the_culprit();
    vec![
        of.carrier_raised("the thread of the interrupt (irq/N-NAME)", ""),
        AdvisedFix::new(
            format!(
                "move {by} to another CPU (taskset -pc CPUS TID), or the interrupt: /proc/irq/N/smp_affinity_list"
            ),
            of.move_culprit(),
        ),
    ]
}
