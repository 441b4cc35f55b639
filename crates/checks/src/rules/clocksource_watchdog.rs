//! Does a timer visit each CPU to watch the TSC?

use super::shared::hardware::node_count;
use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::{KernelVersion, Snapshot};

pub(super) const RULE: Rule = Rule {
    code: "clocksource-watchdog",
    title: "No clocksource watchdog runs on the CPUs",
    severity: Severity::Info,
    profiles: Profile::ISOLATING,
    sources: &[
        "kernel/time/clocksource.c (clocksource_watchdog)",
        "arch/x86/kernel/tsc.c (check_system_tsc_reliable)",
        "Documentation/admin-guide/kernel-parameters.rst",
    ],
    page: page!("clocksource-watchdog"),
    check,
};

/// Since then the kernel trusts a TSC whose errors it can detect (commit b50db7095fe0).
const TRUSTING: KernelVersion = KernelVersion::new(5, 17);

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let current = &host.clocks.source.current;
    if current.need()? != "tsc" {
        return Ok(RuleOutcome::not_applicable("Time is not read from the TSC; only the TSC has a watchdog"));
    }
    let cmdline = &host.kernel.cmdline;
    if let Some(value) = cmdline.need()?.all("tsc").find(|value| matches!(*value, "reliable" | "nowatchdog"))
    {
        return Ok(RuleOutcome::pass("The TSC is not watched, as configured")
            .shows_as(&cmdline.path, format!("tsc={value}")));
    }
    let flags = host.cpus.flags();
    let own = flags.need()?;
    if own.has("tsc_reliable") {
        return Ok(
            RuleOutcome::pass("The hypervisor reports a reliable TSC").shows_as(&flags.path, "tsc_reliable")
        );
    }
    let trusted = ["constant_tsc", "nonstop_tsc", "tsc_adjust"].iter().all(|flag| own.has(flag));
    let nodes = node_count(host)?;
    if trusted && nodes <= 2 {
        if host.kernel.numbers()? >= TRUSTING {
            return Ok(RuleOutcome::pass("The kernel trusts this TSC without watching it")
                .shows_as(&flags.path, "constant_tsc nonstop_tsc tsc_adjust")
                .shows(&host.kernel.release));
        }
        return Err(CannotTell::because(
            &host.kernel.release.path,
            "kernels before 5.17 watch this TSC, except with a stable update that changes it",
        ));
    }
    if trusted && nodes <= 4 {
        let why = "with 3 or 4 nodes, whether a trusted TSC is watched depends on the version";
        return Err(CannotTell::because(&host.cpus.nodes.path, why));
    }
    Ok(RuleOutcome::fail(
        "A watchdog compares the TSC with another clock, on each CPU in turn",
        "Twice a second its timer moves to the next CPU, isolated or not, and reads a slow device there in interrupt \
         context: 1.2 us for hpet, 2.5 us for acpi_pm, several times. If an SMI or a hypervisor delays a CPU \
         meanwhile, the kernel may reject the TSC permanently.",
    )
    .shows(current)
    .shows(&host.clocks.source.available)
    .fix(
        Fix::reboot("tsc=nowatchdog on the kernel command line")
            .risk("if the TSC of this machine really drifts, the kernel does not notice, and time jumps"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const TSC: &Files = &[
        ("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
        ("/proc/cmdline", "quiet\n"),
        ("/proc/cpuinfo", "flags : tsc constant_tsc nonstop_tsc\n"),
    ];
    const GOOD: (&str, &str) = ("/proc/cpuinfo", "flags : tsc constant_tsc nonstop_tsc tsc_adjust\n");
    const OLD: (&str, &str) = ("/proc/sys/kernel/osrelease", "5.10.0-30-amd64\n");

    #[test]
    fn cases() {
        let nodes: Vec<(&str, &str)> = ["0", "1", "2"]
            .iter()
            .zip(["node0", "node1", "node2"])
            .map(|(list, node)| (&*format!("/sys/devices/system/node/{node}/cpulist").leak(), *list))
            .collect();
        table(
            &RULE,
            &[
                case("watched", &[KERNEL_6_12, TSC]).fails("Twice a second"),
                case("trusted", &[KERNEL_6_12, TSC, &[GOOD]]).passes("trusts"),
                case("trusted, perhaps", &[KERNEL_6_12, TSC, &[GOOD, OLD]]).cannot_tell("5.17"),
                case("many nodes", &[KERNEL_6_12, TSC, &[GOOD], &nodes]).cannot_tell("nodes"),
                case("asked for", &[KERNEL_6_12, TSC, &[("/proc/cmdline", "tsc=nowatchdog")]])
                    .passes("as configured"),
                case("a guest", &[KERNEL_6_12, TSC, &[("/proc/cpuinfo", "flags : tsc_reliable\n")]])
                    .passes("reliable"),
                case("another clock", &[KERNEL_6_12, &[(TSC[0].0, "kvm-clock\n")]]).does_not_apply("TSC"),
                case("flags hidden", &[KERNEL_6_12, &TSC[..2]]).cannot_tell("cpuinfo"),
                case("hidden", &[&[]]).cannot_tell("/sys"),
            ],
        );
    }
}
