//! With throttling off: does a safeguard catch a looping real-time thread?

use super::shared::threads::with_those_of_kernel;
use super::shared::{Throttle, has_servers, throttle};
use crate::rule::page;
use crate::survey::survey;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{Action, Severity};
use whylate_host::{STARVATION_GUARDS, Snapshot};

pub(super) const RULE: Rule = Rule {
    code: "throttling-off-no-net",
    title: "A safeguard catches looping real-time threads",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &["sched(7)", "stalld(8)", "kernel/sched/deadline.c"],
    page: page!("throttling-off-no-net"),
    check,
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let runtime = &host.sched.rt_runtime_us;
    let throttle = throttle(host)?;
    let limited = throttle != Throttle::None && *runtime.need()? >= 0;
    if limited && *runtime.need()? < *host.sched.rt_period_us.need()? && !may_borrow(host, throttle) {
        return Ok(RuleOutcome::pass("RT throttling leaves SCHED_OTHER threads some time").shows(runtime));
    }
    // Any of the others is enough; an unknown one only matters if none is on.
    let servers = servers_on(host, options);
    if let Ok(Some(answer)) = servers {
        return Ok(answer);
    }
    let guard =
        host.threads.each.need()?.iter().find(|thread| STARVATION_GUARDS.contains(&thread.comm.as_str()));
    if let Some(guard) = guard {
        return Ok(RuleOutcome::pass(format!("{} boosts threads that starve", guard.comm))
            .shows_as(format!("/proc/{}", guard.pid), guard.comm.clone()));
    }
    servers?;
    with_those_of_kernel(host)?;
    Ok(RuleOutcome::fail(
        match limited {
            false => "RT throttling is off, and no fair server, whylate guard or stalld catches a looping real-time thread",
            true => {
                "RT throttling allows a thread the whole period, and no fair server, whylate guard or stalld catches a \
                 looping one"
            }
        },
        "A SCHED_FIFO thread that loops keeps its CPU forever: kernel threads bound to it never run, and in the end \
         everything that waits for them hangs, up to the whole machine.",
    )
    .shows(runtime)
    .shows(&host.kernel.release)
    .shows_as("/proc", "no thread is called whylate-guard or stalld")
    .fix(
        Fix::runtime("systemctl start whylate-guard")
            .boot("systemctl enable whylate-guard")
            .risk("a thread that starves gets 1 ms of each second of the real-time thread's CPU"),
    )
    .fix(Fix::runtime("systemctl start stalld").boot("systemctl enable stalld").risk("it runs a thread from time to \
                                                                                      time"))
    .fix(
        Fix::runtime("sysctl -w kernel.sched_rt_runtime_us=950000; before 5.10 NO_RT_RUNTIME_SHARE as well: see `rt-runtime-share`").action(Action::sysctl("kernel.sched_rt_runtime_us", "950000"))
            .boot("kernel.sched_rt_runtime_us = 950000 in /etc/sysctl.d/")
            .risk("all real-time threads of a CPU stop for 50 ms after using 950 ms; no effect from 6.12 on"),
    ))
}

/// Whether a CPU may borrow runtime from others, up to the whole period: by default before 5.10.
fn may_borrow(host: &Snapshot, throttle: Throttle) -> bool {
    let alone = host.cpus.online.known().is_some_and(|online| online.len() == 1);
    let borrows = match host.sched.features.known() {
        Some(words) => words.has("RT_RUNTIME_SHARE"),
        None => throttle == Throttle::Borrowing,
    };
    borrows && !alone
}

/// A pass if the fair server is on everywhere; `None` if it is off somewhere, or does not exist.
fn servers_on(host: &Snapshot, options: &CheckOptions) -> Result<Option<RuleOutcome>, crate::CannotTell> {
    if !has_servers(host)? {
        return Ok(None);
    }
    let cpus = options.cpus(host)?;
    let servers = host.sched.fair_servers.need()?.iter().filter(|server| cpus.contains(server.cpu));
    let survey = survey("the fair servers", servers.map(|server| &server.runtime_ns), |&ns| ns > 0)?;
    let all = survey.wrong.is_empty() && survey.fine.len() == cpus.len();
    Ok(all.then(|| {
        let pass = RuleOutcome::pass("The fair server leaves SCHED_OTHER threads some time");
        survey.fine.iter().take(4).fold(pass, |answer, on| answer.shows(on))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const RUNTIME: &str = "/proc/sys/kernel/sched_rt_runtime_us";
    const PERIOD: &Files = &[("/proc/sys/kernel/sched_rt_period_us", "1000000\n")];
    const OLD: &Files = &[("/proc/sys/kernel/osrelease", "4.19.0\n")];
    const ONE_CPU: &Files = &[("/sys/devices/system/cpu/online", "0\n")];
    const OFF: &Files = &[(RUNTIME, "-1\n")];
    const INIT: &Files = thread!(kernel 2 "kthreadd", other 0, "0-1");
    const STALLD: &Files = thread!(program 9 "stalld", other 0, "0-1");
    const GUARD: &Files = thread!(program 9 "whylate-guard", fifo 99, "0");
    const NEW: &Files = &[("/boot/config-6.12.38+deb13-amd64", "CONFIG_SMP=y\n")];
    const SERVERS: &Files = &[
        ("/sys/kernel/debug/sched/fair_server/cpu0/runtime", "50000000\n"),
        ("/sys/kernel/debug/sched/fair_server/cpu1/runtime", "50000000\n"),
    ];
    const ONE_OFF: &Files = &[("/sys/kernel/debug/sched/fair_server/cpu1/runtime", "0\n")];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("throttled", &[KERNEL_6_1, PERIOD, &[(RUNTIME, "950000")]]).passes("throttling"),
                case("the whole period", &[KERNEL_6_1, PERIOD, INIT, &[(RUNTIME, "1000000")]])
                    .fails("whole period"),
                case("before 5.10 a CPU borrows", &[OLD, PERIOD, TWO_CPUS, INIT, &[(RUNTIME, "950000")]])
                    .fails("whole period"),
                case("and not from itself", &[OLD, PERIOD, ONE_CPU, INIT, &[(RUNTIME, "950000")]])
                    .passes("throttling"),
                case("off, nothing else", &[KERNEL_6_1, OFF, INIT]).fails("no fair server"),
                case("off, stalld", &[KERNEL_6_1, OFF, INIT, STALLD]).passes("stalld"),
                case("off, a guard", &[KERNEL_6_1, OFF, INIT, GUARD]).passes("whylate-guard"),
                case("off, a container", &[KERNEL_6_1, OFF, thread!(program 1 "app", other 0, "0")])
                    .cannot_tell("container"),
                case("off, threads hidden", &[KERNEL_6_1, OFF]).cannot_tell("/proc"),
                case("6.12, servers", &[KERNEL_6_12, NEW, TWO_CPUS, OFF, SERVERS]).passes("fair server"),
                case("6.12, a server off", &[KERNEL_6_12, NEW, TWO_CPUS, OFF, SERVERS, ONE_OFF, INIT])
                    .fails("no fair server"),
                case("6.12, the CPU with one", &[KERNEL_6_12, NEW, TWO_CPUS, OFF, SERVERS, ONE_OFF])
                    .cpus("0")
                    .passes("fair"),
                case("6.12, no debugfs", &[KERNEL_6_12, NEW, TWO_CPUS, OFF, INIT]).cannot_tell("debugfs"),
                case("6.12, no debugfs, stalld", &[KERNEL_6_12, NEW, TWO_CPUS, OFF, INIT, STALLD])
                    .passes("stalld"),
            ],
        );
    }
}
