//! A SCHED_OTHER thread waited for its turn.

use super::advised::Advised;
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, ShownBy, page};
use crate::model::culprit::Culprit;
use whylate_base::{AdvisedFix, Priority};

/// Why there is no setting.
pub(super) const NICE_VALUES: &str =
    "a nice value is no setting that whylate makes: the program, its service (Nice=) or renice sets it";

/// With so much less of a nice value a thread has nine times the weight (`sched_prio_to_weight`, `kernel/sched/core.c`).
const FAR: i32 = 10;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "fair-queue",
    page: page!("fair-queue"),
    group: CauseGroup::OtherThreads,
    blames: Blames::Another,
    why,
    advice,
    details: Details {
        culprit_holds_cpu: true,
        culprit_runs_first: true,
        routine: true,
        shown_by: ShownBy::Culprit,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, charged, .. } = late;
    let by = late.by();
    let is = match late.was_realtime {
        true => "was SCHED_OTHER by then",
        false => "is not real-time",
    };
    let nicer = late.culprit.and_then(|by| nicer(late.priority, by));
    let shares = nicer.map_or_else(String::new, |(own, other)| {
        // A nice value more is a fifth of the weight less (`sched_prio_to_weight`, `kernel/sched/core.c`).
        let times = 1.25_f64.powi(own - other);
        format!("; by its nice value, {own} beside {other}, its share of the CPU is {times:.1} times smaller")
    });
    let shares = match late.culprit.and_then(|by| favoured(late.priority, by)) {
        // Beside threads of its own group it has its turn after a tick at the latest; the recording does not show the groups.
        Some((own, other)) => format!(
            "; its nice value, {own} beside {other}, counts only among the threads of one cgroup, or of one session (autogroup)"
        ),
        None => shares,
    };
    let (threads, charged) = match (late.namesakes, late.culprit) {
        ((count @ 2.., all), Some(Culprit::Task { comm, .. })) => {
            (format!("{count} threads named {comm}, {charged} of it behind {by}"), all)
        }
        _ => (by, *charged),
    };
    format!("{thread} {is} and waited {charged} for its turn behind {threads}{shares}")
}

/// The nice values of the late thread and of the culprit, where the late thread has the greater one.
fn nicer(late: Priority, by: &Culprit) -> Option<(i32, i32)> {
    nice_values(late, by).filter(|(own, other)| own > other)
}

/// The same where that of the late thread is far lower.
fn favoured(late: Priority, by: &Culprit) -> Option<(i32, i32)> {
    nice_values(late, by).filter(|(own, other)| own + FAR <= *other)
}

fn nice_values(late: Priority, by: &Culprit) -> Option<(i32, i32)> {
    let Culprit::Task { priority, .. } = *by else { return None };
    let known = |priority: Priority| priority.nice().filter(|_| priority != Priority::UNKNOWN);
    known(late).zip(known(priority))
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    let nicer = of.priority.zip(of.by).and_then(|(late, by)| nicer(late, by));
    let renice = nicer.filter(|_| !of.culprit_is_of_kernel()).map(|(own, other)| {
        let text = format!(
            "lower the nice value of the thread, {own}: renice -n {other} -p TID gives it the share of each of the others; or raise theirs"
        );
        AdvisedFix::by_hand(text, NICE_VALUES)
    });
    let raised = of.late_raised("give the thread a real-time priority: chrt -f -p PRIORITY TID");
    let of_group = of.priority.zip(of.by).and_then(|(late, by)| favoured(late, by)).map(|_| {
        let text = "if they are of two cgroups, raise the share of its own as a whole: cpu.weight of cgroup v2 (CPUWeight= of its service); of a session, /proc/PID/autogroup";
        AdvisedFix::by_hand(text, NICE_VALUES)
    });
    of_group.into_iter().chain(renice).chain([raised]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::{Comm, Cpu, Tid};

    #[test]
    fn a_far_lower_nice_value_may_be_of_another_group() {
        let lines = |own: i32, other: i32| {
            let of_nice = |nice: i32| Priority(120 + nice);
            let by = Culprit::Task { tid: Tid(7), comm: Comm::from("packer"), priority: of_nice(other) };
            let late = Some((Tid(8), Comm::from("control")));
            let of =
                Advised { priority: Some(of_nice(own)), late, ..Advised::about(Some(&by), Some(Cpu(0))) };
            advice(&of).iter().map(|fix| fix.text.clone()).collect::<Vec<_>>().join("\n")
        };
        assert!(lines(-20, 19).starts_with("if they are of two cgroups"), "{}", lines(-20, 19));
        assert!(lines(5, 0).starts_with("lower the nice value"));
        assert!(lines(0, 5).starts_with("give the thread a real-time priority"));
    }
}
