//! Does the firmware interrupt the machine?

use crate::rule::page;
use crate::{CannotTell, CheckOptions, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "smi",
    title: "No system management interrupts occur",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &[
        "Documentation/trace/hwlat_detector.rst",
        "Documentation/core-api/real-time/hardware.rst",
        "arch/x86/include/asm/msr-index.h (MSR_SMI_COUNT)",
        "https://youtu.be/w3yT8zJe0Uw?t=1536 (400 us every 14 minutes)",
    ],
    page: page!("smi"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let info = host.cpus.info.need()?;
    if info.trim().is_empty() {
        return Err(CannotTell::because(&host.cpus.info.path, "the file is empty"));
    }
    if !info.lines().any(|line| line.starts_with("flags")) {
        return Ok(RuleOutcome::not_applicable(
            "System management interrupts exist only on x86; what secure firmware takes of the CPUs shows in `whylate measure`",
        ));
    }
    // The counter is a register of the CPU, not a file.
    Err(CannotTell::because(
        "MSR 0x34 (MSR_SMI_COUNT)",
        "no file shows it: `whylate measure` shows the gaps, turbostat counts SMIs on Intel (column SMI)",
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
                case("x86", &[&[("/proc/cpuinfo", "flags : fpu\n")]]).cannot_tell("measure"),
                case("arm", &[&[("/proc/cpuinfo", "Features : fp\n")]]).does_not_apply("x86"),
                case("empty", &[&[("/proc/cpuinfo", "")]]).cannot_tell("empty"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }
}
