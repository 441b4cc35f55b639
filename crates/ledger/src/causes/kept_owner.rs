//! The owner of a lock waited for a CPU, and not the late thread: that one slept, perhaps with its own CPU idle. Another thread may have had
//! the owner's CPU that goes before the late thread, too: no inversion, and priority inheritance does not shorten it.

use super::advised::{Advised, THEIR_PROGRAM};
use super::info::LateActivation;
use super::kernel_lock;
use crate::model::Culprit;
use whylate_base::AdvisedFix;

/// Why a thread was late, where the lock's `owner` waited for the CPU that another thread had by the scheduler's rules: one of the late
/// thread's own priority, or one that goes before it.
pub(super) fn why(late: &LateActivation<'_>, owner: &Culprit, has_same_priority: bool) -> String {
    let LateActivation { thread, cpu, charged, .. } = late;
    let named = owner.raised_from(late.owner_own);
    let by = late.by();
    let lent = if late.owner_own.is_some() { ", whose priority the lock lends" } else { "" };
    let rule = match has_same_priority {
        true => format!("it has the priority of the late thread{lent}, and came first"),
        false => format!("it goes before the late thread as well{lent}"),
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

pub(super) fn advice(of: &Advised<'_>, owner: &Culprit) -> Vec<AdvisedFix> {
    let by = of.the_culprit();
    let cpu = of.cpu_list().map_or_else(|| "its CPU".to_owned(), |cpu| format!("CPU {cpu}"));
    let shorter = AdvisedFix::by_hand(
        format!(
            "let {owner} run on another CPU, hold the lock for a shorter time, or not share it with the late thread"
        ),
        THEIR_PROGRAM,
    );
    vec![
        of.moved(format!("move {by} off {cpu}, where {owner} waits with the lock: taskset -pc CPUS TID")),
        AdvisedFix::new(
            format!(
                "if {by} is less urgent, give it a priority below that of the late thread: chrt -f -p PRIORITY TID"
            ),
            of.lower_culprit(),
        ),
        match of.kernel_lock {
            true => kernel_lock::advice(of).into_iter().next().unwrap_or(shorter),
            false => shorter,
        },
    ]
}
