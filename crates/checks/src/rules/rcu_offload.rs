//! Do RCU callbacks run on the real-time CPUs?

use super::shared::cpus::{NO_CPUS_CHOSEN, of_parameter, real_time, without};
use super::shared::threads::with_those_of_kernel;
use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{Cpu, CpuSet, Severity};
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "rcu-offload",
    title: "RCU callbacks are offloaded from the real-time CPUs",
    severity: Severity::Info,
    profiles: Profile::ISOLATING,
    sources: &[
        "Documentation/admin-guide/kernel-parameters.rst",
        "kernel/rcu/tree_nocb.h",
        "kernel/rcu/Kconfig",
    ],
    page: page!("rcu-offload"),
    check,
};

/// The threads that run a CPU's callbacks: `rcuop/3`, and `rcuos/3` where RCU readers are not preempted; `rcuob/3`
/// before 4.20.
const THREADS: [&str; 3] = ["rcuop/", "rcuos/", "rcuob/"];

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let Some(cpus) = real_time(host, options)? else {
        return Ok(RuleOutcome::not_applicable(NO_CPUS_CHOSEN));
    };
    let threads = with_those_of_kernel(host)?;
    let number = |comm: &str| THREADS.iter().find_map(|name| comm.strip_prefix(name)?.parse().ok().map(Cpu));
    let offloaded: CpuSet =
        threads.iter().filter(|thread| thread.kernel).filter_map(|thread| number(&thread.comm)).collect();
    let here: CpuSet = cpus.iter().filter(|&cpu| !offloaded.contains(cpu)).collect();
    let cmdline = &host.kernel.cmdline;
    let shown = match cmdline.known() {
        Some(words) => words.show("rcu_nocbs"),
        None => "not known".to_owned(),
    };
    if here.is_empty() {
        return Ok(RuleOutcome::pass(format!("The callbacks of CPUs {cpus} are offloaded"))
            .shows_as("/proc/PID/comm", format!("rcuop/N for CPUs {offloaded}"))
            .shows_as(&cmdline.path, shown));
    }
    // A configured but missing thread has a reason; if the kernel supports it, not all threads were visible.
    let asked = match (cmdline.known().and_then(|words| words.get("rcu_nocbs")), host.cpus.possible.known()) {
        (Some(list), Some(possible)) => of_parameter(list, possible).unwrap_or_default(),
        _ => CpuSet::new(),
    };
    let config = &host.kernel.config;
    if without(&here, &asked).is_empty() && config.need()?.has("RCU_NOCB_CPU") {
        return Err(CannotTell::because(
            &host.threads.each.path,
            format!("{shown} is given, but there is no thread rcuop/N for CPUs {here}"),
        ));
    }
    let answer = RuleOutcome::fail(
        format!("RCU callbacks run on CPUs {here}"),
        "The CPU that queued an RCU callback also frees the memory: in softirqs, which run above every priority \
         without PREEMPT_RT, many callbacks in a row under load.",
    )
    .shows_as("/proc/PID/comm", "no rcuop/N for these CPUs")
    .shows_as(&cmdline.path, shown);
    Ok(answer.fix(
        Fix::reboot(format!("rcu_nocbs={cpus} on the kernel command line; nohz_full= implies it"))
            .risk("the kernel needs CONFIG_RCU_NOCB_CPU; keep the threads rcuop/N on other CPUs"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const OFFLOADED: &Files = thread!(kernel 20 "rcuop/1", other 0, "0");
    const KTHREADD: &Files = thread!(kernel 2 "kthreadd", other 0, "0-1");

    const ASKED: &Files =
        &[("/proc/cmdline", "rcu_nocbs=1\n"), ("/sys/devices/system/cpu/possible", "0-1\n")];
    const CAN: &Files = &[("/boot/config-6.1.0-28-amd64", "CONFIG_RCU_NOCB_CPU=y\n")];
    const CANNOT: &Files = &[("/boot/config-6.1.0-28-amd64", "CONFIG_SMP=y\n")];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("offloaded", &[TWO_CPUS, KTHREADD, OFFLOADED]).cpus("1").passes("CPUs 1"),
                case("not this one", &[TWO_CPUS, KTHREADD, OFFLOADED]).cpus("0-1").fails("CPUs 0"),
                case("for polling threads", &[TWO_CPUS, KTHREADD])
                    .cpus("1")
                    .profile(Profile::CpuPartitioning)
                    .fails_as(Severity::Warning, "CPUs 1"),
                case("asked for, and not done", &[KERNEL_6_1, TWO_CPUS, KTHREADD, ASKED, CANNOT])
                    .cpus("1")
                    .fails("CPUs 1"),
                case("asked for, and not seen", &[KERNEL_6_1, TWO_CPUS, KTHREADD, ASKED, CAN])
                    .cpus("1")
                    .cannot_tell("rcuop/N"),
                case("a container hides them", &[TWO_CPUS, thread!(program 1 "init", other 0, "0-1")])
                    .cpus("1")
                    .cannot_tell("container"),
                case(
                    "no CPUs given",
                    &[
                        TWO_CPUS,
                        KTHREADD,
                        &[("/sys/devices/system/cpu/isolated", "\n"), ("/proc/self/mounts", "")],
                    ],
                )
                .does_not_apply("--cpus"),
            ],
        );
    }
}
