//! A task of lower priority kept the CPU after the wake-up.

use super::advised::{Advised, RECORD};
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, ShownBy, USE_PREEMPT_RT, page};
use crate::model::Culprit;
use crate::timeline::housekeeping::is_kworker;
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
    let kept =
        format!("{} was not preempted on CPU {cpu} for {charged} while {thread} was runnable", late.by());
    let Some(standing) = late.goes_on else { return kept };
    let item = standing.item.map_or_else(String::new, |item| format!(", at its work item {item}"));
    let seen = match (standing.samples, standing.by_rows) {
        (rows, true) => format!("it was to yield, and {rows} of its rows have preemption enabled"),
        (interrupts, false) => {
            format!("{interrupts} interrupts found it to yield, with preemption enabled{item}")
        }
    };
    format!("{kept}: {seen}; this kernel preempts it only where its code asks for that (cond_resched)")
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    if of.goes_on {
        let is_worker = matches!(of.by, Some(Culprit::Task { comm, .. }) if is_kworker(comm.as_str()));
        let kept_away = match is_worker {
            true => AdvisedFix::by_hand(
                "keep unbound work away from the CPUs of real-time threads: /sys/devices/virtual/workqueue/cpumask",
                "the mask depends on which CPUs are for real-time threads, which a recording does not show",
            ),
            false => of.culprit_moved(),
        };
        return vec![
            AdvisedFix::new(
                "use a fully preemptible kernel, which preempts that thread there: preempt=full, or PREEMPT_RT",
                Action::parameters("preempt=full"),
            ),
            kept_away,
        ];
    }
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
