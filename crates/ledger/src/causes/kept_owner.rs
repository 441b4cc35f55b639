//! The owner of a lock waited for a CPU, and not the late thread: that one slept, perhaps with its own CPU idle. Another thread may have had
//! the owner's CPU that goes before the late thread, too, or takes turns with it: no inversion, and priority inheritance does not
//! shorten it.

use super::advised::{Advised, THEIR_PROGRAM};
use super::fair_queue::NICE_VALUES;
use super::info::LateActivation;
use super::kernel_lock;
use crate::model::Culprit;
use whylate_base::AdvisedFix;

/// By which rule the thread that had the owner's CPU may delay the late thread.
#[derive(Clone, Copy)]
pub(super) enum Rule {
    /// It goes before the late thread.
    GoesBefore,
    /// Both have the same real-time priority.
    SamePriority,
    /// Both are SCHED_OTHER.
    TakesTurns,
}

/// Why a thread was late, where the lock's `owner` waited for the CPU that another thread had by the scheduler's rules.
pub(super) fn why(late: &LateActivation<'_>, owner: &Culprit, rule: Rule) -> String {
    let LateActivation { thread, cpu, charged, .. } = late;
    let named = owner.raised_from(late.owner_own);
    let by = late.by();
    let lent = if late.owner_own.is_some() { ", whose priority the lock lends" } else { "" };
    let rule = match rule {
        Rule::SamePriority => format!("it has the priority of the late thread{lent}, and came first"),
        Rule::TakesTurns => "none of them is real-time, and so they take turns".to_owned(),
        Rule::GoesBefore => format!("it goes before the late thread as well{lent}"),
    };
    format!("{thread} waited for a lock of {named}, which {by} kept off CPU {cpu} for {charged}: {rule}")
}

/// The same of any other cause, which is about the thread that waits for a CPU: `sentence` has the owner in the place of the late thread.
pub(super) fn why_otherwise(
    late: &LateActivation<'_>,
    owner: &Culprit,
    sentence: fn(&LateActivation<'_>) -> String,
) -> String {
    let name = owner.raised_from(late.owner_own);
    let of_owner = LateActivation {
        name: name.clone(),
        thread: name,
        executed: late.executed.clone(),
        device_calls: &[],
        called: false,
        ..*late
    };
    format!("{} waited for a lock of {}: {}", late.thread, of_owner.thread, sentence(&of_owner))
}

pub(super) fn advice(of: &Advised<'_>, owner: &Culprit, rule: Rule) -> Vec<AdvisedFix> {
    let by = of.the_culprit();
    let cpu = of.cpu_list().map_or_else(|| "its CPU".to_owned(), |cpu| format!("CPU {cpu}"));
    let shorter = AdvisedFix::by_hand(
        format!(
            "let {owner} run on another CPU, hold the lock for a shorter time, or not share it with the late thread"
        ),
        THEIR_PROGRAM,
    );
    let less_urgent = match rule {
        Rule::TakesTurns => AdvisedFix::by_hand(
            format!(
                "if {by} is less urgent, raise its nice value, with which its share of the CPU is smaller: renice -n 19 -p TID"
            ),
            NICE_VALUES,
        ),
        Rule::GoesBefore | Rule::SamePriority => AdvisedFix::new(
            format!(
                "if {by} is less urgent, give it a priority below that of the late thread: chrt -f -p PRIORITY TID"
            ),
            of.lower_culprit(),
        ),
    };
    vec![
        of.moved(format!("move {by} off {cpu}, where {owner} waits with the lock: taskset -pc CPUS TID")),
        less_urgent,
        match of.kernel_lock {
            true => kernel_lock::advice(of).into_iter().next().unwrap_or(shorter),
            false => shorter,
        },
    ]
}
