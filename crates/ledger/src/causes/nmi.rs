//! A non-maskable interrupt handler ran.

use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, lines, page};
use crate::model::culprit::Culprit;
use whylate_base::Priority;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "nmi",
    page: page!("nmi"),
    group: CauseGroup::Interrupts,
    blames: Blames::Another,
    why,
    advice,
    details: Details::DEFAULT,
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, cpu, charged, .. } = late;
    let by = late.culprit.map_or_else(String::new, |by| format!(" ({by})"));
    format!("non-maskable interrupts{by} took {charged} of CPU {cpu} while {thread} waited")
}

fn advice(_by: Option<&Culprit>, _late_thread: Priority) -> Vec<String> {
    lines(&[
        "turn off what uses NMIs: perf sessions, the hard lockup detector (sysctl kernel.nmi_watchdog=0)",
        "if NMIs still arrive, look for hardware errors: the NMI line of /proc/interrupts, dmesg",
    ])
}
