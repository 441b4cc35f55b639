//! A SCHED_DEADLINE thread held the CPU.

use super::advised::Advised;
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, ShownBy, page};
use whylate_base::{AdvisedFix, SchedClass};

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "deadline-task",
    page: page!("deadline-task"),
    group: CauseGroup::OtherThreads,
    blames: Blames::Another,
    why,
    advice,
    details: Details {
        culprit_finding: Some("SCHED_DEADLINE has priority over every real-time priority"),
        culprit_holds_cpu: true,
        culprit_runs_first: true,
        delays_timer_threads: true,
        shown_by: ShownBy::Culprit,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { name, cpu, charged, .. } = late;
    if late.is_deadline {
        return format!(
            "{} had an earlier deadline than {name}: it held CPU {cpu} for {charged} while {name} was runnable",
            late.by()
        );
    }
    format!(
        "{} is a SCHED_DEADLINE thread, which has priority over every FIFO and RR thread: it held CPU {cpu} for \
         {charged} while {name} was runnable",
        late.by()
    )
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    let by = of.the_culprit();
    if of.priority.is_some_and(|late| late.class() == SchedClass::Deadline) {
        return vec![AdvisedFix::by_hand(
            format!(
                "nothing, if it meets its deadline: of SCHED_DEADLINE threads the one with the earlier deadline goes first. If it \
                 does not, give it a shorter one (chrt -d), or reserve less CPU time for {by}"
            ),
            "how much time each needs is known to its program alone",
        )];
    }
    vec![
        AdvisedFix::by_hand(
            format!("reserve less CPU time for {by}: a smaller runtime or a longer period (chrt -d)"),
            "how much time it needs is known to its program alone",
        ),
        AdvisedFix::by_hand(
            "keep SCHED_DEADLINE threads off the CPU of the late thread with an exclusive cpuset",
            "the kernel refuses to move a SCHED_DEADLINE thread by its affinity; which cpuset it belongs in is to be decided",
        ),
    ]
}
