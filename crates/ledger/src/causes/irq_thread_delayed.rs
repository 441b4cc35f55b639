//! The thread of the interrupt that wakes the late thread waited for a CPU.

use super::advised::Advised;
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, ShownBy, page};
use crate::model::culprit::Culprit;
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
    let carrier = late.carrier.map_or_else(String::new, |carrier| format!(" ({carrier})"));
    format!(
        "{by} had CPU {cpu} for {charged} while the thread of the interrupt that wakes {thread} was \
         runnable{carrier}"
    )
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    let by = of.the_culprit();
    vec![
        AdvisedFix::new(
            format!(
                "give {} a priority above {by}: chrt -f -p PRIORITY TID",
                of.carrier.map_or_else(
                    || "the thread of the interrupt (irq/N-NAME)".to_owned(),
                    Culprit::to_string
                )
            ),
            of.raise_carrier(),
        ),
        AdvisedFix::new(
            format!(
                "move {by} to another CPU (taskset -pc CPUS TID), or the interrupt: /proc/irq/N/smp_affinity_list"
            ),
            of.move_culprit(),
        ),
    ]
}
