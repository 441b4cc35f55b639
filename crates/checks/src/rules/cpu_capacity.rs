//! Are the real-time CPUs the large ones?

use super::shared::hardware::states;
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{CpuSet, Severity};
use whylate_host::{CpuState, Snapshot};

pub(super) const RULE: Rule = Rule {
    code: "cpu-capacity",
    title: "Real-time work runs on CPUs of one capacity, the largest",
    severity: Severity::Info,
    profiles: Profile::ALL,
    sources: &[
        "Documentation/scheduler/sched-capacity.rst",
        "Documentation/ABI/testing/sysfs-devices-system-cpu (cpu_capacity)",
        "drivers/base/arch_topology.c",
    ],
    page: page!("cpu-capacity"),
    check,
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let cpus = options.cpus(host)?;
    let mut all: Vec<(&CpuState, u64)> = Vec::new();
    let online = host.cpus.online.need()?;
    for state in states(host, online)? {
        if let Some(&capacity) = state.capacity.if_present()? {
            all.push((state, capacity));
        }
    }
    let largest = all.iter().map(|(_, capacity)| *capacity).max();
    let Some(largest) = largest.filter(|largest| all.iter().any(|(_, capacity)| capacity < largest)) else {
        return Ok(RuleOutcome::not_applicable("All CPUs have the same capacity"));
    };
    let of = |is: &dyn Fn(u64) -> bool| -> CpuSet {
        all.iter()
            .filter(|(state, capacity)| cpus.contains(state.cpu) && is(*capacity))
            .map(|(state, _)| state.cpu)
            .collect()
    };
    let small = of(&|capacity| capacity < largest);
    let Some((slowest, capacity)) =
        all.iter().filter(|(state, _)| small.contains(state.cpu)).min_by_key(|(_, capacity)| *capacity)
    else {
        let answer = RuleOutcome::pass(format!("CPUs {cpus} have the largest capacity, {largest}"));
        let own = all.iter().filter(|(state, _)| cpus.contains(state.cpu)).take(4);
        return Ok(own.fold(answer, |answer, (state, _)| answer.shows(&state.capacity)));
    };
    let large = of(&|capacity| capacity == largest);
    let times = largest as f64 / (*capacity).max(1) as f64;
    let what = if large.is_empty() {
        format!(
            "The real-time CPUs {cpus} are not the large ones: the smallest has a capacity of {capacity} of {largest}"
        )
    } else {
        format!(
            "CPUs {small} have a smaller capacity than CPUs {large}: the smallest has {capacity} of {largest}"
        )
    };
    Ok(RuleOutcome::fail(
        what,
        format!("The same work takes up to {times:.1} times as long there. The scheduler places real-time tasks by priority, and looks at \
                 capacities only where uclamp is configured."),
    )
    .shows(&slowest.capacity)
    .fix(
        Fix::runtime("pin the task to large CPUs: `whylate run --cpus LIST`, taskset, or CPUAffinity= of its unit")
            .by_hand("which CPUs are free for the task is the system's design")
            .risk("large CPUs take more power and heat, and may be throttled sooner"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const LITTLE: (&str, &str) = ("/sys/devices/system/cpu/cpu0/cpu_capacity", "446\n");
    const BIG: (&str, &str) = ("/sys/devices/system/cpu/cpu1/cpu_capacity", "1024\n");
    const SAME: (&str, &str) = ("/sys/devices/system/cpu/cpu0/cpu_capacity", "1024\n");

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("both", &[TWO_CPUS, &[LITTLE, BIG]]).fails("CPUs 0 have a smaller capacity than CPUs 1"),
                case("the small one", &[TWO_CPUS, &[LITTLE, BIG]]).cpus("0").fails("not the large ones"),
                case("the large one", &[TWO_CPUS, &[LITTLE, BIG]]).cpus("1").passes("largest capacity, 1024"),
                case("equal", &[TWO_CPUS, &[SAME, BIG]]).does_not_apply("same capacity"),
                case("none", &[TWO_CPUS]).does_not_apply("same capacity"),
                case("no number", &[TWO_CPUS, &[(LITTLE.0, "x"), BIG]]).cannot_tell("a number"),
                case("hidden", &[&[]]).cannot_tell("/sys"),
            ],
        );
    }
}
