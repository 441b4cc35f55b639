//! A task of lower priority had interrupts disabled.

use super::advised::{Advised, KERNEL, RECORD};
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, ShownBy, USE_PREEMPT_RT, page};
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "irqs-disabled",
    page: page!("irqs-disabled"),
    group: CauseGroup::Disabled,
    blames: Blames::Another,
    why,
    advice,
    details: Details {
        culprit_finding: Some("interrupts disabled"),
        culprit_holds_cpu: true,
        shown_by: ShownBy::Culprit,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { cpu, charged, .. } = late;
    format!("{} kept interrupts disabled on CPU {cpu} for {charged}", late.by())
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    vec![
        AdvisedFix::by_hand(
            format!(
                "find the section: trace {} with the irqsoff tracer, where the kernel has it",
                of.the_culprit()
            ),
            RECORD,
        ),
        AdvisedFix::by_hand(USE_PREEMPT_RT[1], KERNEL),
    ]
}
