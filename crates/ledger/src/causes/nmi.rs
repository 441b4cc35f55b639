//! A non-maskable interrupt handler ran.

use super::advised::{Advised, MACHINE};
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, page};
use whylate_base::{Action, AdvisedFix};

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

fn advice(_: &Advised<'_>) -> Vec<AdvisedFix> {
    vec![
        AdvisedFix::new(
            "turn off what uses NMIs: perf sessions, the hard lockup detector (sysctl kernel.nmi_watchdog=0)",
            Action::sysctl("kernel.nmi_watchdog", "0"),
        ),
        AdvisedFix::by_hand(
            "if NMIs still arrive, look for hardware errors: the NMI line of /proc/interrupts, dmesg",
            MACHINE,
        ),
    ]
}
