//! A thread of higher real-time priority held the CPU.

use super::advised::{Advised, ITS_PROGRAM, THEIR_PROGRAM};
use super::grace_period;
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
    let executed = late.executed.as_ref().map(|what| format!("which executed {what}"));
    let role = late.culprit.and_then(role).or(executed).map_or_else(String::new, |role| format!(", {role},"));
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

/// The name before the slash of the threads that idle injection has on each CPU (`drivers/powercap/idle_inject.c`).
const IDLE_INJECT: &str = "idle_inject";

/// What stands before the slash in the name of a kernel thread of one CPU.
fn before_slash(by: &Culprit) -> Option<&str> {
    let Culprit::Task { comm, .. } = by else { return None };
    comm.as_str().split_once('/').map(|(name, _)| name)
}

/// What a kernel thread does, where it does the work of interrupts or of a program.
fn role(by: &Culprit) -> Option<String> {
    if let Some((irq, action)) = by.irq_thread() {
        return Some(format!("the thread of interrupt {irq} ({action})"));
    }
    if let Some(pid) = polls_ring_of(by) {
        return Some(format!("which polls an io_uring of process {pid}"));
    }
    let role = match before_slash(by)? {
        "ksoftirqd" => "which runs softirqs",
        "ktimers" => "which runs the callbacks of timers",
        IDLE_INJECT => "which keeps its CPU idle, as it is too hot or is to save power",
        _ => return None,
    };
    Some(role.to_owned())
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    if let Some(advice) = of_irq_thread(of) {
        return advice;
    }
    if of.priority.is_some_and(|late| late.is_realtime())
        && let Some(advice) = grace_period::advice_on_thread(of)
    {
        return advice;
    }
    if of.by.and_then(before_slash) == Some(IDLE_INJECT) {
        return vec![AdvisedFix::by_hand(
            "cool the machine better, or limit the frequency of its CPUs; or turn that cooling device off: intel_powerclamp, or the one \
             of cpuidle, /sys/class/thermal/cooling_device*/type",
            "a matter of the machine's temperature",
        )];
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
    if of.culprit_is_kworker() {
        return vec![lowered_kworker(of), moved];
    }
    let last = match of.by.and_then(polls_ring_of) {
        Some(pid) => Some(AdvisedFix::by_hand(
            format!(
                "let process {pid} set its ring up without IORING_SETUP_SQPOLL, or with a shorter sq_thread_idle: the thread \
                 polls until that has passed"
            ),
            THEIR_PROGRAM,
        )),
        None if of.same_process => Some(AdvisedFix::by_hand(
            format!(
                "it is a thread of the same program: let {by} do less at a time, or work when the late thread sleeps"
            ),
            ITS_PROGRAM,
        )),
        None if of.is_kin || of.culprit_is_of_kernel() => None,
        None => {
            Some(AdvisedFix::new("if it is not needed, stop the service that starts it", of.stop_service()))
        }
    };
    of_forked(of).into_iter().chain([moved, priority]).chain(last).collect()
}

/// What to do about a process that has the priority of the late thread's process, which forked it: what raises that raises both.
pub(super) fn of_forked(of: &Advised<'_>) -> Option<AdvisedFix> {
    let (by, parent) = (of.the_culprit(), of.inherited?);
    let text = format!(
        "{by} was forked by {parent} and has its priority from there: start that with SCHED_RESET_ON_FORK (chrt -R, or the flag in \
         sched_setscheduler(2)), with which its children begin with nice 0, or let the child give up the priority right after the fork"
    );
    Some(AdvisedFix::by_hand(text, ITS_PROGRAM))
}

/// A worker of the kernel's workqueues is made with nice 0 or -20 (`create_worker()`, `kernel/workqueue.c`).
fn lowered_kworker(of: &Advised<'_>) -> AdvisedFix {
    let text = format!(
        "make {} SCHED_OTHER again: chrt -o -p 0 TID, and find what raised it (chrt, rtirq, tuned): a kworker has nice 0 or -20 by \
         itself, and runs the work items of many",
        of.the_culprit()
    );
    AdvisedFix::new(text, of.demote_culprit())
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

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::{Comm, Cpu, Tid};

    #[test]
    fn only_what_a_service_starts_is_stopped_with_it() {
        let lines = |comm: &str, is_kin, same_process| {
            let by = Culprit::Task { tid: Tid(7), comm: Comm::from(comm), priority: Priority::realtime(70) };
            let late = Some((Tid(8), Comm::from("control")));
            let priority = Some(Priority::realtime(60));
            let about = Advised::about(Some(&by), Some(Cpu(0)));
            let of = Advised { priority, late, is_kin, same_process, ..about };
            advice(&of).iter().map(|fix| fix.text.clone()).collect::<Vec<_>>().join("\n")
        };
        assert!(lines("server", false, false).contains("stop the service"));
        let thread = lines("worker", true, true);
        assert!(!thread.contains("service") && thread.contains("a thread of the same program"), "{thread}");
        let forked = lines("worker", true, false);
        assert!(!forked.contains("service") && !forked.contains("same program"), "{forked}");
        let kernel = lines("jbd2/sda1-8", false, false);
        assert!(!kernel.contains("service") && kernel.contains("taskset"), "{kernel}");
        let (callbacks, others) = (lines("rcuc/0", false, false), lines("rcu_preempt", false, false));
        for of_rcu in [&callbacks, &others] {
            assert!(of_rcu.contains("rcutree.kthread_prio="), "{of_rcu}");
        }
        assert!(callbacks.contains("rcu_nocbs=") && !others.contains("rcu_nocbs="), "{others}");
        let (bound, unbound) = (lines("kworker/1:2", false, false), lines("kworker/u4:2", false, false));
        assert!(
            bound.contains("belongs to its CPU") && unbound.contains("virtual/workqueue/cpumask"),
            "{bound}"
        );
        for kworker in [bound, unbound] {
            assert!(kworker.contains("chrt -o -p 0") && !kworker.contains("taskset -pc"), "{kworker}");
        }
    }
}
