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
        let ranked = match of.is_at_the_top() {
            // 99 is the highest (sched(7)).
            true => AdvisedFix::new(
                format!("give the less urgent of the two, the late thread or {by}, a lower priority: there is none above 99"),
                of.lower_culprit(),
            ),
            false => AdvisedFix::new(
                format!("give the more urgent of the two, the late thread or {by}, the higher priority"),
                of.raise_late(),
            ),
        };
        vec![
            ranked,
            AdvisedFix::new("run the two threads on different CPUs", of.move_culprit()),
        ]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::culprit::Culprit;
    use whylate_base::{Comm, Cpu, Priority, Tid};

    #[test]
    fn nothing_is_raised_above_the_highest_priority() {
        let lines = |user: i32| {
            let priority = Priority::realtime(user);
            let by = Culprit::Task { tid: Tid(7), comm: Comm::from("packer"), priority };
            let late = Some((Tid(8), Comm::from("control")));
            let of = Advised { priority: Some(priority), late, ..Advised::about(Some(&by), Some(Cpu(0))) };
            advice(&of)
        };
        assert!(lines(98)[0].text.contains("the higher priority"));
        assert!(lines(99)[0].text.contains("a lower priority: there is none above 99"));
    }
}
