//! Which other threads run in front of the user's?

use super::shared::common;
use crate::rule::page;
use crate::{Answer, Ask, Fix, Profile, Rule, Verdict};
use whylate_base::{CpuSet, Policy, Severity};
use whylate_host::{Snapshot, Thread};

pub(super) const RULE: Rule = Rule {
    code: "rogue-rt-threads",
    title: "No other real-time thread has the user's priority or a higher one",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &["sched(7)", "proc_pid_stat(5)"],
    page: page!("rogue-rt-threads"),
    check,
};

/// Where nobody said a priority: what measuring programs and most applications use.
const ASSUMED: u32 = 80;
/// So many are named.
const NAMED: usize = 12;

fn check(host: &Snapshot, ask: &Ask) -> Verdict {
    let cpus = ask.cpus(host)?;
    let priority = ask.priority.unwrap_or(ASSUMED);
    let threads = host.threads.each.need()?;
    let mut rogues: Vec<&Thread> = threads.iter().filter(|thread| is_rogue(thread, priority, &cpus)).collect();
    let said = match ask.priority {
        Some(priority) => format!("priority {priority}"),
        None => format!("priority {priority} (assumed: give --priority)"),
    };
    let Some(first) = rogues.first() else {
        let realtime = threads.iter().filter(|thread| thread.is_realtime() && !thread.kernel).count();
        return Ok(Answer::pass(format!("No program has a real-time thread at or above {said} on CPUs {cpus}"))
            .shows_as("/proc/PID/task/TID/stat", format!("{} threads, {realtime} of programs real-time", threads.len())));
    };
    let what = match rogues.len() {
        1 => format!("A thread of {} runs at or above {said}: {}", described(first), cpus_of(first)),
        more => format!("{more} threads of programs run at or above {said}, such as {}", described(first)),
    };
    let fix = Fix::runtime(format!("chrt -p -o 0 {0}, or taskset -pc OTHER-CPUS {0}; or stop its service", first.tid))
        .boot("CPUSchedulingPolicy=other, or CPUAffinity=, in a drop-in of its service")
        .risk("a watchdog or a storage path may need its priority: look what it is for");
    rogues.truncate(NAMED);
    let answer = Answer::fail(
        what,
        "While it runs, the user's thread waits, for as long as it pleases: multipathd at SCHED_RR 99 once made a \
         priority 80 task late by 331 us once a second.",
    );
    let named = rogues.iter().fold(answer, |answer, thread| {
        answer.shows_as(
            format!("/proc/{}/task/{}", thread.pid, thread.tid),
            format!("{}, {}", described(thread), cpus_of(thread)),
        )
    });
    Ok(named.fix(fix))
}

fn is_rogue(thread: &Thread, priority: u32, cpus: &CpuSet) -> bool {
    let above = match thread.policy {
        Some(Policy::Fifo | Policy::Rr) => thread.priority >= priority,
        Some(Policy::Deadline) => true,
        _ => false,
    };
    // One whose CPUs are not known may come here.
    let here = thread.affinity.known().is_none_or(|own| !common(own, cpus).is_empty());
    above && here && !thread.kernel
}

fn described(thread: &Thread) -> String {
    let policy = thread.policy.map_or("?", Policy::name);
    match thread.priority {
        0 => format!("{} ({policy})", thread.comm),
        priority => format!("{} ({policy} {priority})", thread.comm),
    }
}

fn cpus_of(thread: &Thread) -> String {
    let last = thread.cpu.map_or(String::new(), |cpu| format!(", last on {cpu}"));
    match thread.affinity.known() {
        Some(cpus) => format!("CPUs {cpus}{last}"),
        None => format!("CPUs not known{last}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const MULTIPATHD: &Files = &[
        ("/proc/71/task/73/stat", "73 (multipathd) S 1 71 71 0 -1 4194560 0 0 0 0 0 0 0 0 -100 0 1 0 3 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 1 99 2"),
        ("/proc/71/task/73/status", "Cpus_allowed_list:\t1\n"),
    ];
    const MIGRATION: &Files = &[
        ("/proc/15/task/15/stat", "15 (migration/0) S 2 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 -100 0 1 0 3 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 99 1"),
        ("/proc/15/task/15/status", "Cpus_allowed_list:\t0\n"),
    ];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("multipathd", &[TWO_CPUS, MULTIPATHD, MIGRATION]).priority(80).fails("multipathd (rr 99)"),
                case("on another CPU", &[TWO_CPUS, MULTIPATHD, MIGRATION]).cpus("0").passes("CPUs 0"),
                case("the kernel's own", &[TWO_CPUS, MIGRATION]).priority(1).passes("priority 1"),
                case("no priority said", &[TWO_CPUS, MULTIPATHD]).fails("assumed"),
                case("no threads", &[TWO_CPUS, &[("/proc/version", "")]]).cannot_tell("/proc"),
                case("no CPUs", &[MULTIPATHD]).cannot_tell("online"),
            ],
        );
    }
}
