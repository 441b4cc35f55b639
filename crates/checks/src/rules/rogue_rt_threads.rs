//! Which other threads run in front of the user's?

use super::shared::threads::{
    cpus_of, described, is_at_or_above, may_run_on, place, priority, with_those_of_kernel,
};
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{Action, Severity, ThreadAction};
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

/// The number of items to list.
const NAMED: usize = 12;

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let cpus = options.cpus(host)?;
    let (priority, bound) = priority(options);
    let threads = host.threads.each.need()?;
    let is_rogue =
        |thread: &&Thread| !thread.kernel && is_at_or_above(thread, priority) && may_run_on(thread, &cpus);
    let mut rogues: Vec<&Thread> = threads.iter().filter(is_rogue).collect();
    let Some(first) = rogues.first() else {
        with_those_of_kernel(host)?;
        let realtime = threads.iter().filter(|thread| thread.is_realtime() && !thread.kernel).count();
        return Ok(RuleOutcome::pass(format!(
            "No program has a real-time thread at or above {bound} on CPUs {cpus}"
        ))
        .shows_as(
            "/proc/PID/task/TID/stat",
            format!("{} threads, {realtime} real-time threads of programs", threads.len()),
        ));
    };
    let what = match rogues.len() {
        1 => format!("{} runs at or above {bound}: {}", described(first), cpus_of(first)),
        more => format!("{more} program threads run at or above {bound}, such as {}", described(first)),
    };
    let unit = unit_of(host, threads, first);
    let own = unit.as_deref().unwrap_or("its service");
    let lasting = match first.comm.as_str() {
        // It asks for SCHED_RR 99 itself (multipathd/main.c): a policy of the unit changes nothing.
        "multipathd" => format!(
            "systemctl edit {own}: [Service] LimitRTPRIO=0 (multipath-tools 0.9.9 and later), and RestrictRealtime=yes for \
             older ones; then systemctl restart {own}"
        ),
        _ => format!("CPUSchedulingPolicy=other, or CPUAffinity=, in a drop-in of {own}"),
    };
    let fix =
        Fix::runtime(format!("chrt -p -o 0 {0}, or taskset -pc OTHER-CPUS {0}; or stop {own}", first.tid))
            .action(Action::Thread {
                set: rogues
                    .iter()
                    .map(|thread| ThreadAction {
                        thread: thread.comm.clone(),
                        tid: Some(thread.tid.0),
                        policy: Some("other".to_owned()),
                        priority: Some(0),
                        ..ThreadAction::default()
                    })
                    .collect(),
            })
            .boot(lasting)
            .risk("a watchdog or a storage path may need its priority: check its purpose");
    rogues.truncate(NAMED);
    let answer = RuleOutcome::fail(
        what,
        "While it runs, the user's thread waits, for as long as it runs: multipathd at SCHED_RR 99 once made a \
         priority 80 task late by 331 us once a second.",
    );
    let named = rogues.iter().fold(answer, |answer, thread| {
        answer.shows_as(place(thread), format!("{}, {}", described(thread), cpus_of(thread)))
    });
    let named = match &unit {
        Some(unit) => named.shows_as(&host.systemd.enabled.path, format!("{unit} is enabled")),
        None => named,
    };
    Ok(named.fix(fix))
}

/// The enabled service that has the name of a thread's process.
fn unit_of(host: &Snapshot, threads: &[Thread], thread: &Thread) -> Option<String> {
    let process = threads.iter().find(|other| other.tid.0 == thread.pid).unwrap_or(thread);
    let unit = format!("{}.service", process.comm);
    host.systemd.is_enabled(&unit).is_ok_and(|enabled| enabled).then_some(unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const MULTIPATHD: &Files = thread!(program 73 of 71 "multipathd", rr 99, "1");
    const ENABLED: &Files = &[(
        "/etc/systemd/system/sysinit.target.wants/multipathd.service",
        "[Service]\nExecStart=/sbin/multipathd -d -s\n",
    )];
    const MIGRATION: &Files = thread!(kernel 15 "migration/0", fifo 99, "0");

    #[test]
    fn the_unit_of_multipathd_is_named() {
        for (files, unit) in [
            (&[TWO_CPUS, MULTIPATHD, ENABLED][..], "multipathd.service"),
            (&[TWO_CPUS, MULTIPATHD], "its service"),
        ] {
            let host = Snapshot::read(&whylate_host::FsRoot::memory(&files.concat()));
            let verdict = check(&host, &CheckOptions::of(Profile::Realtime)).expect("an outcome");
            let boot = verdict.fixes[0].boot.as_deref().expect("a setting");
            assert!(boot.starts_with(&format!("systemctl edit {unit}: [Service] LimitRTPRIO=0")), "{boot}");
        }
    }

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("multipathd", &[TWO_CPUS, MULTIPATHD, MIGRATION])
                    .priority(80)
                    .fails("multipathd (rr 99)"),
                case("on another CPU", &[TWO_CPUS, MULTIPATHD, MIGRATION]).cpus("0").passes("CPUs 0"),
                case("the kernel's own", &[TWO_CPUS, MIGRATION]).priority(1).passes("priority 1"),
                case("no priority said", &[TWO_CPUS, MULTIPATHD]).fails("assumed"),
                case("a container hides others", &[TWO_CPUS, thread!(program 1 "app", fifo 10, "0-1")])
                    .cannot_tell("container"),
                case("no threads", &[TWO_CPUS, &[("/proc/version", "")]]).cannot_tell("/proc"),
                case("no CPUs", &[MULTIPATHD]).cannot_tell("online"),
            ],
        );
    }
}
