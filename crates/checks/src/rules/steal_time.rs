//! Did the host take time from the CPUs?

use super::shared::hardware::{Ground, ground};
use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "steal-time",
    title: "The host took no time from this guest",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &["proc_stat(5)", "Documentation/virt/kvm/x86/msr.rst (MSR_KVM_STEAL_TIME)"],
    page: page!("steal-time"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    if let Ground::Metal(_) = ground(host)? {
        return Ok(RuleOutcome::not_applicable("The machine is not a guest"));
    }
    let times = &host.platform.hypervisor.cpu_times;
    let line = times.need()?;
    let ticks: Vec<u64> = line.split_ascii_whitespace().skip(1).map_while(|word| word.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal; the time of nested guests is part of the first two.
    let Some(&stolen) = ticks.get(7) else {
        return Err(CannotTell::because(&times.path, "the eighth number, the stolen time, is missing"));
    };
    if stolen == 0 {
        let why = "the stolen time is 0, which a host that does not count also shows: use `whylate measure`";
        return Err(CannotTell::because(&times.path, why));
    }
    let all: u64 = ticks.iter().take(8).fold(0, |sum, ticks| sum.saturating_add(*ticks));
    let share = stolen as f64 * 100.0 / all.max(1) as f64;
    Ok(RuleOutcome::fail(
        format!("The host took {share:.2} % of the time since boot from this guest"),
        "During that time a CPU of this guest was runnable and did not run. The host's scheduler alone limits the \
         length of such a gap.",
    )
    .shows(times)
    .fix(
        Fix::runtime("on the host: pin each vCPU to a CPU of its own, at a real-time priority, and keep other work \
                      off it").by_hand("it is to be done on the host, or in the definition of the guest")
            .boot("whylate check --profile realtime-virtual-host there")
            .risk("vCPUs that never sleep starve the host's kernel threads on these CPUs"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const GUEST: (&str, &str) = ("/proc/cpuinfo", "flags : fpu hypervisor\n");

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("stolen", &[&[GUEST, ("/proc/stat", "cpu  100 0 100 700 0 0 0 100 50 0\ncpu0 1\n")]])
                    .fails("10.00 %"),
                case("nothing, or not told", &[&[GUEST, ("/proc/stat", "cpu  1 0 1 7 0 0 0 0 0 0\n")]])
                    .cannot_tell("measure"),
                case("not a guest", &[&[("/proc/cpuinfo", "flags : fpu\n")]]).does_not_apply("not a guest"),
                case("too short", &[&[GUEST, ("/proc/stat", "cpu  1 0 1 7\n")]]).cannot_tell("eighth"),
                case("malformed", &[&[GUEST, ("/proc/stat", "x\n")]]).cannot_tell("cpu"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }
}
