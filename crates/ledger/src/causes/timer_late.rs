//! The time from a timer's expiry to its handler.

use super::advised::{Advised, RECORD, THEIR_PROGRAM, all_by_hand};
use super::info::{Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, Usual, page};
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "timer-late",
    page: page!("timer-late"),
    group: CauseGroup::WakeUpPath,
    blames: Blames::Nothing,
    why,
    advice,
    details: Details {
        evidence,
        name_on_time: Some("the delay of the timer hardware"),
        usual: Usual::WakeUpPath,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, cpu, charged, .. } = late;
    if let Some(by) = late.culprit {
        return format!(
            "the timer's interrupt for {thread} came {charged} late on CPU {cpu}, and hit {by}: that had disabled \
             interrupts, or the CPU stood still in what it did"
        );
    }
    let guest = match late.is_guest {
        Some(true) => "; this machine is a guest, and its hypervisor may have taken the CPU",
        _ => "",
    };
    format!(
        "the timer of {thread} was handled {charged} after its expiry; the recording does not show what delayed it on \
         CPU {cpu}{guest}"
    )
}

fn evidence(time: &ChargedTime) -> String {
    let running = time.culprit.as_ref().or(time.running.as_ref());
    let running = running.map_or_else(String::new, |task| format!(", while {task} had the CPU"));
    format!("{} from expiry to handler{running}", time.length)
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    match of.by {
        Some(by) => vec![AdvisedFix::by_hand(
            format!(
                "find what {by} did: the stack in the evidence begins with the function that the interrupt hit; it disables \
                 interrupts, or waits for a slow device (a read of a register stops the CPU until the device answers)"
            ),
            THEIR_PROGRAM,
        )],
        None if of.shows_calls => all_by_hand(
            RECORD,
            &[
                "measure which of both it is: rtla hwnoise (or the hwlat tracer) shows whether the hardware or a hypervisor takes the \
               CPU, and the irqsoff tracer for how long interrupts are disabled",
            ],
        ),
        None => all_by_hand(
            RECORD,
            &[
                "record the workload with -e raw_syscalls: the system calls of all threads show whether a thread had \
               interrupts disabled or the CPU was taken away",
            ],
        ),
    }
}
