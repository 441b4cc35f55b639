//! A task of lower priority kept the CPU after the wake-up.

use super::advised::{Advised, RECORD};
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, ShownBy, USE_PREEMPT_RT, page};
use whylate_base::{Action, AdvisedFix};

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "preemption-disabled",
    page: page!("preemption-disabled"),
    group: CauseGroup::Disabled,
    blames: Blames::Another,
    why,
    advice,
    details: Details {
        culprit_finding: Some("preemption disabled"),
        culprit_holds_cpu: true,
        shown_by: ShownBy::Culprit,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, cpu, charged, .. } = late;
    format!("{} was not preempted on CPU {cpu} for {charged} while {thread} was runnable", late.by())
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    vec![
        AdvisedFix::new(USE_PREEMPT_RT[2], Action::parameters("preempt=full")),
        AdvisedFix::by_hand(
            format!(
                "find the section: trace {} with the preemptoff tracer, where the kernel has it",
                of.the_culprit()
            ),
            RECORD,
        ),
    ]
}
