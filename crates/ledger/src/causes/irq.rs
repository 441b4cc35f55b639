//! A hard interrupt handler ran.

use super::advised::{Advised, ITS_PROGRAM, THEIR_PROGRAM, all_by_hand};
use super::info::{
    Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, ON_OWN_TIMER, USE_PREEMPT_RT, Usual,
    page,
};
use crate::model::culprit::Culprit;
use crate::model::irq_kind::IrqKind;
use whylate_base::{Action, AdvisedFix};

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "irq",
    page: page!("irq"),
    group: CauseGroup::Interrupts,
    blames: Blames::Another,
    why,
    advice,
    details: Details {
        name_on_time: Some("the interrupt that woke it"),
        culprit_finding: Some("interrupt handlers"),
        usual: Usual::WakeUpPath,
        routine: true,
        evidence: ChargedTime::handler_had_the_cpu,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { cpu, charged, .. } = late;
    let by = late.culprit.map_or_else(String::new, |by| format!(": {by}"));
    let armed = late
        .raised_by
        .map_or_else(String::new, |by| format!("; {by} armed nearly all timers that expired in it"));
    let own = late.culprit.is_some_and(|by| by.is_irq_of_thread(&late.name));
    let own = if own { ", whose thread this is" } else { "" };
    format!("hard interrupt handlers took {charged} of CPU {cpu}{by}{own}{armed}")
}

/// Advice where one thread armed the timers.
fn by_armer(of: &Advised<'_>) -> Vec<AdvisedFix> {
    if of.is_itself() {
        return all_by_hand(
            ITS_PROGRAM,
            &["let fewer timers expire at once, or arm them in a thread on another CPU"],
        );
    }
    let by = of.the_culprit();
    vec![
        of.culprit_moved_with("; timers expire where they are armed"),
        AdvisedFix::by_hand(format!("have {by} let fewer timers expire at once"), THEIR_PROGRAM),
    ]
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    if let Some(armer) = of.about_raiser() {
        return by_armer(&armer);
    }
    if of.is_own_handler() {
        return all_by_hand(
            "the interrupt's driver is to be changed",
            &[
                "let the hard interrupt's handler do less, and its thread what can wait: the thread moves with the interrupt",
            ],
        );
    }
    match of.by.and_then(Culprit::irq_kind) {
        Some(IrqKind::OwnTimer) => vec![
            AdvisedFix::new(ON_OWN_TIMER, of.isolate()),
            AdvisedFix::by_hand(
                "let fewer timers expire at once, or arm them on another CPU: the evidence shows which threads armed them, \
                 where timers were recorded",
                THEIR_PROGRAM,
            ),
        ],
        Some(IrqKind::Ipi) => vec![AdvisedFix::new(
            "this interrupt is a call from another CPU and cannot be moved: take work off this CPU (isolcpus=, nohz_full=, \
             an isolated cpuset partition), and let no thread of another CPU wake threads on it or change its memory maps",
            of.isolate(),
        )],
        _ => vec![
            AdvisedFix::new(
                "move the interrupt to another CPU: /proc/irq/N/smp_affinity_list, then check effective_affinity_list",
                of.move_irq(),
            ),
            AdvisedFix::new(USE_PREEMPT_RT[0], Action::parameters("threadirqs")),
        ],
    }
}
