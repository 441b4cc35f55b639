//! Is the machine real?

use super::shared::hardware::{Ground, ground};
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "hypervisor",
    title: "The machine is not a guest of a hypervisor",
    severity: Severity::Warning,
    profiles: &[Profile::Realtime, Profile::CpuPartitioning, Profile::Audio, Profile::Robotics],
    sources: &["Documentation/core-api/real-time/hardware.rst", "Documentation/virt/kvm/index.rst"],
    page: page!("hypervisor"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let ground = ground(host)?;
    if let Ground::Metal(_) = ground {
        return Ok(ground.shown(RuleOutcome::pass("The machine is not a guest")));
    }
    let answer = RuleOutcome::fail(
        "The machine is a guest of a hypervisor",
        "Its CPUs are threads of the host: when the host runs something else they stop. Timers, interrupts and idle \
         states need the host, each with an exit that takes microseconds.",
    );
    Ok(ground.shown(answer).fix(
        Fix::reboot(
            "use a physical machine; or prepare the host (--profile realtime-virtual-host there) and check \
                     with --profile realtime-virtual-guest here",
        )
        .by_hand("it is to be done on the host, or in the definition of the guest")
        .risk("a host under other administration cannot be prepared"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("a guest", &[&[("/proc/cpuinfo", "flags : fpu hypervisor\n")]])
                    .fails("guest of a hypervisor"),
                case("real", &[&[("/proc/cpuinfo", "flags : fpu\n")]]).passes("not a guest"),
                case(
                    "a board",
                    &[
                        TWO_CPUS,
                        &[
                            ("/proc/cpuinfo", "Features : fp\n"),
                            ("/proc/device-tree/model", "Raspberry Pi 5\0"),
                        ],
                    ],
                )
                .passes("not a guest"),
                case("unknown", &[&[("/proc/cpuinfo", "Features : fp\n")]]).cannot_tell("/sys"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }
}
