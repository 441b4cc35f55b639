//! A task of lower priority kept the CPU after the wake-up.

use super::info::{
    Blames, CauseGroup, CauseInfo, Details, LateActivation, ShownBy, USE_PREEMPT_RT, page, the_culprit,
};
use crate::model::culprit::Culprit;
use whylate_base::Priority;

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

fn advice(by: Option<&Culprit>, _late_thread: Priority) -> Vec<String> {
    vec![
        USE_PREEMPT_RT[2].to_owned(),
        format!(
            "find the section: trace {} with the preemptoff tracer, where the kernel has it",
            the_culprit(by)
        ),
    ]
}
