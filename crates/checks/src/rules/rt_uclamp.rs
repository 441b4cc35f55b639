//! Does a real-time thread get the highest frequency at once?

use crate::rule::page;
use crate::survey::survey;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "rt-uclamp",
    title: "Real-time threads get the highest frequency",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &[
        "Documentation/scheduler/sched-util-clamp.rst",
        "Documentation/admin-guide/sysctl/kernel.rst",
        "https://www.phoronix.com/news/Linux-5.9-Scheduler (sched_util_clamp_min_rt_default, 5.9)",
    ],
    page: page!("rt-uclamp"),
    check,
};

/// All of a CPU's capacity (SCHED_CAPACITY_SCALE).
const ALL: u64 = 1024;

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let clamp = &host.sched.uclamp_rt_min;
    let Some(&least) = clamp.if_present()? else {
        return Ok(RuleOutcome::not_applicable("This kernel has no such setting").shows(clamp));
    };
    if least >= ALL {
        return Ok(RuleOutcome::pass("Real-time threads request the highest frequency").shows(clamp));
    }
    let mut governors = Vec::new();
    for cpu in options.cpus(host)?.iter() {
        let state = host
            .cpus
            .get(cpu)
            .ok_or_else(|| CannotTell::because(&host.cpus.present.path, format!("CPU {cpu} was not read")))?;
        if state.cpufreq.governor.if_present()?.is_some() {
            governors.push(&state.cpufreq.governor);
        }
    }
    if governors.is_empty() {
        return Ok(RuleOutcome::not_applicable("No driver lets the kernel select frequencies"));
    }
    // The only governor that uses the scheduler's utilization.
    let survey = survey("the governors", governors, |governor| governor != "schedutil")?;
    let Some(first) = survey.wrong.first() else {
        let answer = RuleOutcome::not_applicable("The governor does not use the scheduler's utilization");
        return Ok(survey.fine.iter().take(1).fold(answer, |answer, own| answer.shows(own)));
    };
    Ok(RuleOutcome::fail(
        format!("Real-time threads count as {least} of {ALL} utilization for the frequency"),
        "The governor schedutil then starts them at a low frequency, and raises it only as they use the CPU.",
    )
    .shows(clamp)
    .shows(*first)
    .fix(
        Fix::runtime(format!("sysctl -w kernel.sched_util_clamp_min_rt_default={ALL}"))
            .boot(format!("kernel.sched_util_clamp_min_rt_default = {ALL} in /etc/sysctl.d/"))
            .risk("more power: phones lower it for that reason"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const LOW: &Files = &[("/proc/sys/kernel/sched_util_clamp_min_rt_default", "128\n")];
    const HIGH: &Files = &[("/proc/sys/kernel/sched_util_clamp_min_rt_default", "1024\n")];
    const SCHEDUTIL: &Files = &[("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "schedutil\n")];
    const FIXED: &Files = &[("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n")];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("as built", &[TWO_CPUS, HIGH]).passes("highest"),
                case("lowered", &[TWO_CPUS, LOW, SCHEDUTIL]).fails("128 of 1024"),
                case("lowered, of no effect", &[TWO_CPUS, LOW, FIXED]).does_not_apply("does not use"),
                case("no driver", &[TWO_CPUS, LOW]).does_not_apply("No driver"),
                case("not built in", &[TWO_CPUS, &[("/proc/stat", "")]]).does_not_apply("no such setting"),
                case("hidden", &[TWO_CPUS]).cannot_tell("/proc"),
            ],
        );
    }
}
