//! A thread of higher real-time priority held the CPU.

use super::advised::{Advised, ITS_PROGRAM, THEIR_PROGRAM};
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, ShownBy, page};
use crate::model::culprit::Culprit;
use whylate_base::{AdvisedFix, Priority, SchedClass};

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "higher-priority-task",
    page: page!("higher-priority-task"),
    group: CauseGroup::OtherThreads,
    blames: Blames::Another,
    why,
    advice,
    details: Details {
        culprit_finding: Some("higher priority"),
        culprit_holds_cpu: true,
        culprit_runs_first: true,
        starves: Some("has priority over it"),
        delays_timer_threads: true,
        shown_by: ShownBy::Culprit,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { name, thread, cpu, charged, .. } = late;
    let by = late.by();
    if late.inherited_priority {
        return format!(
            "{by} held CPU {cpu} for {charged} while {thread} was runnable: it held a lock that a thread of higher \
             priority waited for, and inherited the priority of that thread"
        );
    }
    let role = late.culprit.and_then(role).map_or_else(String::new, |role| format!(", {role},"));
    let to_the_end = if late.waits_to_end { ", to the end of the trace" } else { "" };
    if late.called {
        return format!(
            "{by}{role} has priority over {thread} and works for it in this activation ({name} woke it, or a thread that woke it): \
             it held CPU {cpu} for {charged} while {name} was runnable{to_the_end}"
        );
    }
    format!(
        "{by}{role} has priority over {thread}: it held CPU {cpu} for {charged} while {name} was runnable{to_the_end}"
    )
}

/// The process whose ring a thread of io_uring polls (`io_sq_thread()`, `io_uring/sqpoll.c`).
fn polls_ring_of(by: &Culprit) -> Option<&str> {
    let Culprit::Task { comm, .. } = by else { return None };
    comm.as_str().strip_prefix("iou-sqp-")
}

/// What a kernel thread does, where it does the work of interrupts or of a program.
fn role(by: &Culprit) -> Option<String> {
    if let Some((irq, action)) = by.irq_thread() {
        return Some(format!("the thread of interrupt {irq} ({action})"));
    }
    if let Some(pid) = polls_ring_of(by) {
        return Some(format!("which polls an io_uring of process {pid}"));
    }
    let Culprit::Task { comm, .. } = by else { return None };
    let role = match comm.as_str().split_once('/')?.0 {
        "ksoftirqd" => "which runs softirqs",
        "ktimers" => "which runs the callbacks of timers",
        _ => return None,
    };
    Some(role.to_owned())
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    if let Some(advice) = of_irq_thread(of) {
        return advice;
    }
    let by = of.the_culprit();
    if of.called {
        let text = format!(
            "let {by} do less for one request, or ask it when the urgent work is done: the late thread set it to work itself; where it \
             waits for the answer, that is part of its own work"
        );
        return vec![AdvisedFix::by_hand(text, ITS_PROGRAM)];
    }
    let priority = match of.priority.map(Priority::class) {
        Some(SchedClass::Fair) => {
            of.late_raised("give the late thread a real-time priority: chrt -f -p PRIORITY TID")
        }
        _ => AdvisedFix::new(
            format!(
                "if {by} is less urgent, give it a priority below that of the late thread: chrt -f -p PRIORITY TID"
            ),
            of.lower_culprit(),
        ),
    };
    let moved = if of.late_migrates() {
        of.moved(format!("move {by} to a CPU on which the late thread does not run: taskset -pc CPUS TID"))
    } else {
        of.culprit_moved_with("; or isolate the CPU of the late thread")
    };
    let last = match of.by.and_then(polls_ring_of) {
        Some(pid) => AdvisedFix::by_hand(
            format!(
                "let process {pid} set its ring up without IORING_SETUP_SQPOLL, or with a shorter sq_thread_idle: the thread \
                 polls until that has passed"
            ),
            THEIR_PROGRAM,
        ),
        None => AdvisedFix::new("if it is not needed, stop the service that starts it", of.stop_service()),
    };
    vec![moved, priority, last]
}

/// Advice where the culprit is the thread of an interrupt.
pub(super) fn of_irq_thread(of: &Advised<'_>) -> Option<Vec<AdvisedFix>> {
    let (irq, _) = of.by?.irq_thread()?;
    let by = of.the_culprit();
    Some(vec![
        AdvisedFix::new(
            format!(
                "move the interrupt to another CPU: /proc/irq/{irq}/smp_affinity_list; its thread moves with it"
            ),
            of.move_irq(),
        ),
        AdvisedFix::new(
            format!(
                "give {by} a priority below that of the late thread: chrt -f -p PRIORITY TID; risk: its device then waits"
            ),
            of.lower_culprit(),
        ),
    ])
}
