//! Do real-time CPUs share their cores?

use crate::rule::page;
use crate::survey::survey;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "smt",
    title: "Real-time CPUs do not share a core",
    severity: Severity::Warning,
    profiles: Profile::ISOLATING,
    sources: &[
        "Documentation/ABI/testing/sysfs-devices-system-cpu",
        "Documentation/admin-guide/cputopology.rst",
        "Documentation/admin-guide/hw-vuln/core-scheduling.rst",
    ],
    page: page!("smt"),
    check,
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let online = host.cpus.online.need()?;
    let cpus = options.cpus(host)?;
    if let Ok(Some(false)) = host.cpus.smt_active.if_present() {
        return Ok(RuleOutcome::pass("No two CPUs share a core").shows(&host.cpus.smt_active));
    }
    let mut siblings = Vec::new();
    for cpu in cpus.iter() {
        let state = host
            .cpus
            .get(cpu)
            .ok_or_else(|| CannotTell::because(&host.cpus.present.path, format!("CPU {cpu} was not read")))?;
        siblings.push(&state.topology.siblings);
    }
    let alone = |own: &whylate_base::CpuSet| own.iter().filter(|&cpu| online.contains(cpu)).count() <= 1;
    let survey = survey("the CPUs", siblings, alone)?;
    if survey.wrong.is_empty() {
        let pass = RuleOutcome::pass(format!("CPUs {cpus} do not share a core with an online CPU"));
        return Ok(survey.fine.iter().take(4).fold(pass, |answer, own| answer.shows(own)));
    }
    let answer = RuleOutcome::fail(
        format!("{} of {} CPUs share their core with another CPU", survey.wrong.len(), cpus.len()),
        "Two hardware threads of a core share its execution units, caches and buffers: work on the sibling slows \
         down the real-time thread, often to half its speed, at any priority.",
    )
    .shows(&host.cpus.smt_control);
    let answer = survey.wrong.iter().take(8).fold(answer, |answer, shared| answer.shows(shared));
    // Which threads have a cookie is not shown in /proc: core scheduling never makes this a pass.
    let has_cookies = host.kernel.config.known().is_some_and(|config| config.has("SCHED_CORE"));
    let answer = match has_cookies {
        true => answer.shows_as(&host.kernel.config.path, "CONFIG_SCHED_CORE=y").fix(
            Fix::runtime(
                "coresched new -t pid -d PID: other programs then stay off the sibling while the thread runs",
            )
            .by_hand("which programs share cores is for the user to decide")
            .risk("the sibling idles meanwhile; no file shows which threads are set so"),
        ),
        false => answer,
    };
    Ok(answer
        .fix(
            Fix::runtime("echo off > /sys/devices/system/cpu/smt/control")
                .boot("nosmt on the kernel command line, or in the firmware")
                .risk("half of the CPUs are then offline: adapt thread counts and affinities"),
        )
        .fix(
            Fix::runtime(
                "echo 0 > /sys/devices/system/cpu/cpuN/online, for the siblings of real-time CPUs only",
            )
            .by_hand("taking CPUs offline moves what runs there, and is for the user to decide")
            .risk("the same risk for those CPUs"),
        ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const ACTIVE: &str = "/sys/devices/system/cpu/smt/active";
    const SHARED: &Files = &[
        ("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-1\n"),
        ("/sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "0-1\n"),
    ];
    const APART: &Files = &[
        ("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0\n"),
        ("/sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "1\n"),
    ];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("off", &[TWO_CPUS, &[(ACTIVE, "0\n")]]).passes("No two"),
                case("on", &[TWO_CPUS, SHARED, &[(ACTIVE, "1\n")]]).fails("2 of 2 CPUs"),
                case("one CPU", &[TWO_CPUS, SHARED, &[(ACTIVE, "1\n")]]).cpus("1").fails("1 of 1 CPUs"),
                case("before 4.19", &[TWO_CPUS, APART]).passes("do not share a core"),
                case(
                    "its sibling is offline",
                    &[TWO_CPUS, SHARED, &[("/sys/devices/system/cpu/online", "0\n")]],
                )
                .passes("do not share a core"),
                case("topology hidden", &[TWO_CPUS, &[(ACTIVE, "1\n")]]).cannot_tell("thread_siblings_list"),
                case("no such CPU", &[TWO_CPUS, SHARED]).cpus("9").cannot_tell("CPU 9"),
            ],
        );
    }
}
