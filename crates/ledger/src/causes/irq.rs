//! A hard interrupt handler ran.

use super::info::{
    Blames, CauseGroup, CauseInfo, Details, LateActivation, USE_PREEMPT_RT, Usual, lines, page,
};
use crate::model::culprit::Culprit;
use crate::model::irq_kind::IrqKind;
use whylate_base::Priority;

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
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { cpu, charged, .. } = late;
    let by = late.culprit.map_or_else(String::new, |by| format!(": {by}"));
    format!("hard interrupt handlers took {charged} of CPU {cpu}{by}")
}

fn advice(by: Option<&Culprit>, _late_thread: Priority) -> Vec<String> {
    match by.and_then(Culprit::irq_kind) {
        Some(IrqKind::OwnTimer) => lines(&[
            "this interrupt is the CPU's own timer and cannot be moved: take work off this CPU (isolcpus=, nohz_full=, an \
             isolated cpuset partition)",
            "let fewer timers expire at once, or arm them on another CPU: the evidence shows which thread armed them, \
             where timers were recorded",
        ]),
        Some(IrqKind::Ipi) => lines(&[
            "this interrupt is a call from another CPU and cannot be moved: take work off this CPU (isolcpus=, nohz_full=, \
             an isolated cpuset partition), and let no thread of another CPU wake threads on it or change its memory maps",
        ]),
        _ => lines(&[
            "move the interrupt to another CPU: /proc/irq/N/smp_affinity_list, then check effective_affinity_list",
            USE_PREEMPT_RT[0],
        ]),
    }
}
