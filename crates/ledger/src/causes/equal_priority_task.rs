//! A thread of the same real-time priority held the CPU.

use super::advised::Advised;
use super::higher_priority_task::{of_forked, of_irq_thread};
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, ShownBy, page};
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "equal-priority-task",
    page: page!("equal-priority-task"),
    group: CauseGroup::OtherThreads,
    blames: Blames::Another,
    why,
    advice,
    details: Details {
        culprit_finding: Some("equal priority"),
        culprit_holds_cpu: true,
        culprit_runs_first: true,
        delays_timer_threads: true,
        shown_by: ShownBy::Culprit,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, cpu, charged, takes_turns, .. } = late;
    let rule = match takes_turns {
        true => "threads of this priority take turns (SCHED_RR, or sched_yield)",
        false => "a FIFO thread is not preempted by a thread of equal priority",
    };
    format!("{} has the same priority as {thread} and held CPU {cpu} for {charged}: {rule}", late.by())
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    of_irq_thread(of).unwrap_or_else(|| {
        let by = of.the_culprit();
        if let Some(forked) = of_forked(of) {
            return vec![forked, of.culprit_moved()];
        }
        vec![
            AdvisedFix::new(
                format!("give the more urgent of the two, the late thread or {by}, the higher priority"),
                of.raise_late(),
            ),
            AdvisedFix::new("run the two threads on different CPUs", of.move_culprit()),
        ]
    })
}
