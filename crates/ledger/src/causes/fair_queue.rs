//! A SCHED_OTHER thread waited for its turn.

use super::advised::Advised;
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, ShownBy, page};
use crate::model::culprit::Culprit;
use whylate_base::{AdvisedFix, Priority};

/// Why there is no setting.
pub(super) const NICE_VALUES: &str =
    "a nice value is no setting that whylate makes: the program, its service (Nice=) or renice sets it";

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
    let Culprit::Task { priority, .. } = *by else { return None };
    let known = |priority: Priority| priority.nice().filter(|_| priority != Priority::UNKNOWN);
    known(late).zip(known(priority)).filter(|(own, other)| own > other)
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
    renice.into_iter().chain([raised]).collect()
}
